"""What a cache key is made of, as torch lists it: `[hash] name: text`, a line a part.

Source: torch/_inductor/codecache.py (FxGraphCachePickler.debug_lines), 2.8 to 2.13. The hash is of what
counts for the key; the text is for people, and may hold addresses that do not count.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from ...model import CacheLookup
from ...shared.quick_dataclass import dataclass

_PART = re.compile(r"\[(\w{1,80})\] ([^:\n]{1,200}): ?(.*)", re.DOTALL)
IS_BACKWARD = "fx_kwargs[is_backward]"
GRAPH = "gm"


@dataclass(frozen=True)
class KeyPart:
    """One part; two keys agree in it if the digests are the same."""

    name: str
    digest: str
    text: str


@dataclass(frozen=True)
class Key:
    """A key that was looked up, with its parts by name. `fingerprint` has the name and hash of each."""

    parts: dict[str, KeyPart]
    fingerprint: frozenset[tuple[str, str]]

    @property
    def is_backward(self) -> bool | None:
        """Which direction the graph is of; None where the key is of both."""
        part = self.parts.get(IS_BACKWARD)
        return None if part is None else part.text == "True"

    def distance(self, other: "Key") -> int:
        """In how many parts two keys differ, twice the number where both have the part."""
        return len(self.fingerprint ^ other.fingerprint)

    def differing(self, other: "Key") -> list[tuple[KeyPart | None, KeyPart | None]]:
        """The parts of `self` and of `other` that are not the same, in the order of the keys."""
        names = dict.fromkeys([*self.parts, *other.parts])
        pairs = [(self.parts.get(name), other.parts.get(name)) for name in names]
        return [
            (mine, its) for mine, its in pairs if mine is None or its is None or mine.digest != its.digest
        ]


def key_of(lookup: CacheLookup) -> Key | None:
    """The parts of the key that was looked up; None where they were not recorded."""
    return None if lookup.parts is None else key_of_lines(lookup.parts)


def key_of_lines(lines: Iterable[str]) -> Key:
    """The same, of torch's lines; what is no part is passed over."""
    parts = {part.name: part for part in map(_part_of, lines) if part is not None}
    return Key(parts, frozenset((part.name, part.digest) for part in parts.values()))


@lru_cache(1024)  # most lines of a key, the settings, are those of the others as well
def _part_of(line: str) -> KeyPart | None:
    found = _PART.fullmatch(line)
    if found is None:
        return None
    digest, name, text = found.groups()
    return KeyPart(name, digest, text)
