"""vLLM's own compile cache: what each of its folders was made for, and what differs between them.

vLLM writes `cache_key_factors.json` into each (vllm/compilation/backends.py): environment, configuration,
compiler and code that the folder's name is a hash of. It is read as data.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..recording.plain_files import read_plain
from ..shared.quick_dataclass import dataclass
from ..shared.untrusted import printable, printable_json

_FACTORS = "cache_key_factors.json"
_LARGEST = 16 << 20  # bytes
_LONGEST = 80  # characters of a value
_MOST_SAID = 5


@dataclass(frozen=True)
class VllmFolder:
    """A folder of vLLM's, and what its key has other than that of the one made before it; None of the first.

    `problem` says why its factors could not be read.
    """

    name: str
    differs: tuple[str, ...] | None
    problem: str | None


def vllm_folders(root: Path) -> Iterator[VllmFolder]:
    """All of them, in the order in which they were made."""
    earlier: dict[str, str] | None = None
    for path in sorted(_factors(root), key=_made):
        name = printable(str(path.parent.relative_to(root)))
        try:
            content = printable_json(read_plain(path, _LARGEST).decode("utf-8", "replace"))
        except (OSError, ValueError, RecursionError) as error:
            yield VllmFolder(name, None, f"{_FACTORS} cannot be read: {error}")
            continue
        factors = dict(_flat(content))
        yield VllmFolder(name, None if earlier is None else tuple(_differences(earlier, factors)), None)
        earlier = factors


def _factors(root: Path) -> list[Path]:
    try:
        return list(root.glob(f"*/**/{_FACTORS}"))
    except OSError:  # no rights; the folder's own line says so
        return []


def _made(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from _flat(each, f"{name}.{key}" if name else key)
    else:
        yield name, value if isinstance(value, str) else json.dumps(value, default=str)


def _differences(before: dict[str, str], after: dict[str, str]) -> Iterator[str]:
    """What is spelled out first; a hash only where nothing else tells."""
    names = [name for name in dict.fromkeys([*before, *after]) if before.get(name) != after.get(name)]
    spelled_out = [name for name in names if not name.endswith("_hash")]
    for name in (spelled_out or names)[:_MOST_SAID]:
        yield f"{name}: {_value(before.get(name))} → {_value(after.get(name))}"
    if len(spelled_out or names) > _MOST_SAID:
        yield f"and {len(spelled_out or names) - _MOST_SAID} more"


def _value(text: str | None) -> str:
    return "none" if text is None else text[:_LONGEST] + ("…" if len(text) > _LONGEST else "")
