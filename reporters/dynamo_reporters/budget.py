"""Reports of a bounded size, for a reader that pays for each token: what is worth most stays.

Pages and documents begin with what is worth most, so that what is left out is taken from their end. How much
that is stands in them. A token is counted as 4 characters.
"""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from .documents import json_text
from .shipped_schemas import file_of

CHARACTERS_OF_A_TOKEN = 4
_KEPT_OF_LISTS = (8, 4, 2, 1, 0)  # items, tried in this order
_KEPT_OF_TEXTS = (400, 160, 60)  # characters
_WORTH_MOST = ("next", "actions")  # lists of which the first item stays


def bounded_text(text: str, tokens: int) -> str:
    """The first lines of a page that fit, and how many further ones there are."""
    most = tokens * CHARACTERS_OF_A_TOKEN
    if len(text) <= most:
        return text
    lines = text.splitlines(keepends=True)
    room = most - len(_more_lines(len(lines)))
    kept = sum(length <= room for length in accumulate(map(len, lines)))
    return ("".join(lines[:kept]) + _more_lines(len(lines) - kept))[:most]


def _more_lines(count: int) -> str:
    return f"… {count} more lines: without --budget\n"


def bounded_json(document: dict[str, Any], tokens: int) -> str:
    """A document as JSON on one line, with items of its lists left out until it fits; valid by its schema.

    `omitted` counts the items and texts by the field of the document. ValueError where what every such
    document must have does not fit.
    """
    most = tokens * CHARACTERS_OF_A_TOKEN
    whole = json_text(document, is_short=True)
    if len(whole) < most:
        return whole + "\n"
    content: dict[str, Any] = json.loads(whole)
    text = whole
    for left_out in _steps(content, _fields_of_maps(str(document["schema"]).removeprefix("dynamo-"))):
        text = json_text(content | {"omitted": +left_out}, is_short=True)
        if len(text) < most:
            return text + "\n"
    raise ValueError(f"{tokens} tokens are too few: it has {len(text) // 4 + 1} at least")


def _steps(content: dict[str, Any], maps: set[str]) -> Iterator[Counter[str]]:
    """Make the document smaller, step by step: its last field first, and those that are worth most last."""
    left_out: Counter[str] = Counter()
    fields = [name for name in reversed(content) if isinstance(content[name], dict | list)]
    fields = [name for name in fields if name not in _WORTH_MOST]
    for name in fields:
        for kept in _KEPT_OF_LISTS:
            left_out[name] += _shorten_lists(content[name], kept)
            yield left_out
        if name in maps:
            left_out[name] += len(content[name] or ())
            content[name] = content[name] and {}
            yield left_out
    for some in (fields, [name for name in _WORTH_MOST if name in content]):
        for kept in (each for each in _KEPT_OF_LISTS if each):
            left_out.update({name: _shorten_lists(content[name], kept) for name in some})
            yield left_out
        for kept in _KEPT_OF_TEXTS:
            left_out.update({name: _shorten_texts(content[name], kept) for name in some})
            yield left_out
    for action in content.get("actions", ()):
        left_out["actions"] += len(action["alternatives"])
        action["alternatives"] = []
    yield left_out


def _shorten_lists(value: Any, kept: int) -> int:
    """Take the last items out of the lists in a value; how many. Pairs and the like are no such lists."""
    if isinstance(value, dict):
        return sum(_shorten_lists(item, kept) for item in value.values())
    if not isinstance(value, list):
        return 0
    removed = 0
    if any(isinstance(item, dict | list) for item in value) or len(value) > _KEPT_OF_LISTS[0]:
        removed = len(value[kept:])
        del value[kept:]
    return removed + sum(_shorten_lists(item, kept) for item in value)


def _shorten_texts(value: Any, kept: int) -> int:
    """Cut long texts in a value, which then end in "…"; how many."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    cut = 0
    for key, item in items:
        if isinstance(item, str) and len(item) > kept and key != "identity":
            value[key] = item[: kept - 1] + "…"
            cut += 1
        else:
            cut += _shorten_texts(item, kept)
    return cut


def _fields_of_maps(name: str) -> set[str]:
    """The fields of a document that are mappings with any keys, so that none of them must be there."""
    schema = json.loads(file_of(name).read_text(encoding="utf-8"))

    def is_map(declared: Any) -> bool:
        kinds = declared.get("anyOf", [declared])
        return any("additionalProperties" in kind and "properties" not in kind for kind in kinds)

    return {field for field, declared in schema["properties"].items() if is_map(declared)}
