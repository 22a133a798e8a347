"""A graph that was compiled before in the same process, and in what the two cache keys differ.

It is always known, without the parts of all keys in memory: it costs a split of 70 kB for a look-up that
found nothing, and compiled instead.
Source of the parts: torch/_inductor/codecache.py (debug_lines), 2.8 to 2.13.
"""

from ..shared.untrusted import printable_json

_SEPARATOR = '", "'  # never in a part: quotes in it are escaped
_HASH_AND_NAME = 200  # characters at most, before a part's text
_MOST_GRAPHS = 64  # that are kept, of some 70 kB each
_MOST_PARTS = 8  # keys that differ in more are of different settings


class RepeatedGraphs:
    """The last key of each graph that a cache did not have in a process, as the JSON of its parts."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, str], dict[str, str]] = {}

    def differing(self, cache: str, parts: str) -> tuple[tuple[str, str], ...]:
        """The parts, then and now, in which a key differs from the graph's last one; none of a first one.

        `parts` is what stands between the outer quotes of torch's JSON list of them.
        """
        mine = {_name(line): line for line in parts.split(_SEPARATOR)}
        graph = mine.get("gm")
        if graph is None:
            return ()
        its = self._last.pop((cache, graph), None)
        if len(self._last) >= _MOST_GRAPHS:
            del self._last[next(iter(self._last))]
        self._last[cache, graph] = mine
        if its is None or its.keys() != mine.keys():
            return ()
        names = [name for name, line in mine.items() if _hash(line) != _hash(its[name])]
        if len(names) > _MOST_PARTS:
            return ()
        return tuple((_text(its[name]), _text(mine[name])) for name in names)


def _hash(line: str) -> str:
    return line.partition("]")[0]


def _name(line: str) -> str:
    return line[:_HASH_AND_NAME].partition("] ")[2].partition(":")[0]


def _text(line: str) -> str:
    text = printable_json(f'"{line}"')
    return text if isinstance(text, str) else ""
