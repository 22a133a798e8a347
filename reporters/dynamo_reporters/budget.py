"""Reports of a bounded size, for a reader that pays for each token: what is worth most stays.

Pages and documents begin with what is worth most, so that what is left out is taken from their end. How much
that is stands in them. A token is counted as 4 characters.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from dynamo_core.analysis.source_lines import indentation

from .documents import json_text
from .shipped_schemas import file_of

CHARACTERS_OF_A_TOKEN = 4
_LONGEST_WHOLE = 8  # items of a list of plain values, as pairs and shapes are, which stays whole
_REDUCTIONS = (("items", 8), ("items", 4), ("text", 400), ("items", 2), ("items", 1), ("text", 160))
_FIRST_ACTION = re.compile(r"\s*1\. ")
_LEAST_OF_A_LINE = 80  # characters of one that is cut
_WORTH_MOST = ("next", "actions")  # lists of which the first item stays
_NEVER_CUT = ("schema", "recording", "verdict", "identity", "command")  # texts that are of no use in part


def bounded_text(text: str, tokens: int, end: str = "") -> str:
    """The first lines of a page that fit, how many further ones there are, and the lines of its `end`.

    Of those, too, the first stay that fit: in a third of it, and but one where the page has to be cut. Where
    a line would be left out that belongs to the one before it, as the place of an action does, the
    longest line is cut; of what is not the first of a page, nor its first action, all is left out instead.
    """
    most = tokens * CHARACTERS_OF_A_TOKEN
    ends = end.splitlines(keepends=True)
    ends = ends[: sum(length <= most // 3 for length in accumulate(map(len, ends)))]
    lines = text.splitlines(keepends=True)
    while len(ends) > 1 and len(text) + len("".join(ends)) > most:
        ends.pop()
    room = most - len("".join(ends))
    return _first_lines(_with_room_for_next(lines, room), room) + "".join(ends)


def _with_room_for_next(lines: list[str], most: int) -> list[str]:
    """The lines; the longest that is to stay is cut, where those that belong to the last would not fit."""
    kept = _number_kept(lines, most)
    if not _tears(lines, kept) or _heading_to_leave_out(lines, kept) is not None:
        return lines
    while _tears(lines, kept):
        kept += 1
    longest = max(range(kept), key=lambda index: len(lines[index]))
    too_many = len("".join(lines[:kept])) + len(_more_lines(len(lines))) - most
    length = len(lines[longest]) - too_many - 2
    if length < _LEAST_OF_A_LINE:
        return lines
    return [*lines[:longest], lines[longest][:length] + "…\n", *lines[longest + 1 :]]


def _heading_to_leave_out(lines: list[str], kept: int) -> int | None:
    """The heading above the first line that is left out; None where its part is to stay, and be cut."""
    if not _tears(lines, kept):
        return None
    heading = max((at for at in range(kept) if not indentation(lines[at])), default=0)
    is_first = not any(map(indentation, lines[:heading]))
    return None if is_first or any(map(_FIRST_ACTION.match, lines[heading : kept + 1])) else heading


def _tears(lines: list[str], kept: int) -> bool:
    """Whether the first line that is left out belongs to the last one that stays: it is further in."""
    return 0 < kept < len(lines) and indentation(lines[kept]) > indentation(lines[kept - 1])


def _number_kept(lines: list[str], most: int) -> int:
    lengths = [*accumulate(map(len, lines))]
    if not lengths or lengths[-1] <= most:
        return len(lines)
    room = most - len(_more_lines(len(lines)))
    return sum(length <= room for length in lengths)


def _first_lines(lines: list[str], most: int) -> str:
    kept = _number_kept(lines, most)
    if kept == len(lines):
        return "".join(lines)
    heading = _heading_to_leave_out(lines, kept)
    kept = kept if heading is None else heading
    return ("".join(lines[:kept]) + _more_lines(len(lines) - kept))[:most]


def _more_lines(count: int) -> str:
    are = "1 line is" if count == 1 else f"{count} lines are"
    return f"… {are} left out for --budget; without it, all are shown\n"


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
    sizes = {name: _size(name, value) for name, value in content.items()}
    left_out: Counter[str] = Counter()
    for name, count in _steps(content, _fields_of_maps(str(document["schema"]).removeprefix("dynamo-"))):
        left_out[name] += count
        sizes[name] = _size(name, content[name])
        if sum(sizes.values()) < most:
            text = json_text(content | {"omitted": +left_out}, is_short=True)
            if len(text) < most:
                return text + "\n"
    least = len(json_text(content | {"omitted": +left_out}, is_short=True))
    raise ValueError(f"{tokens} tokens are too few: it has {least // CHARACTERS_OF_A_TOKEN + 1} at least")


def _size(name: str, value: Any) -> int:
    return len(json_text({name: value}, is_short=True)) - 1  # of the braces, one stands for its comma


def _steps(content: dict[str, Any], maps: set[str]) -> Iterator[tuple[str, int]]:
    """Make the document smaller, step by step: its last field first, and those that are worth most last.

    Each step gives the name of the field, and how many items and texts it took out of it or cut.
    """
    for name in [name for name in reversed(content) if name not in _WORTH_MOST]:
        for what, kept in (*_REDUCTIONS, ("items", 0), ("text", 30)):
            yield name, _reduce(content, name, what, kept)
        if name in maps and content[name]:
            count, content[name] = len(content[name]), {}
            yield name, count
    for what, kept in _REDUCTIONS:
        for name in filter(content.__contains__, _WORTH_MOST):
            yield name, _reduce(content, name, what, kept)
    for action in content.get("actions", ()):
        count, action["alternatives"] = len(action["alternatives"]), []
        yield "actions", count
    for name in filter(content.__contains__, _WORTH_MOST):
        yield name, _reduce(content, name, "text", 40)


def _reduce(content: dict[str, Any], name: str, what: str, kept: int) -> int:
    field = {name: content[name]}
    count = _shorten_lists(field, kept) if what == "items" else _shorten_texts(field, kept)
    content[name] = field[name]
    return count


def _shorten_lists(value: Any, kept: int) -> int:
    """Take the last items out of the lists in a value; how many. Pairs and the like are no such lists."""
    if isinstance(value, dict):
        return sum(_shorten_lists(item, kept) for item in value.values())
    if not isinstance(value, list):
        return 0
    removed = 0
    if any(isinstance(item, dict | list) for item in value) or len(value) > _LONGEST_WHOLE:
        removed = len(value[kept:])
        del value[kept:]
    return removed + sum(_shorten_lists(item, kept) for item in value)


def _shorten_texts(value: Any, kept: int) -> int:
    """Cut long texts in a value, which then end in "…"; how many."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    cut = 0
    for key, item in items:
        if isinstance(item, str) and len(item) > kept and key not in _NEVER_CUT:
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
