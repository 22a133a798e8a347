"""A graph that was compiled before in the same process, and in what the two cache keys differ.

It is always known, without the parts of all keys in memory: a key is taken apart, all 70 kB of it, only where
one of the same graph came before and was another.
Source of the parts: torch/_inductor/codecache.py (debug_lines), 2.8 to 2.13.
"""

from ..shared.untrusted import printable_json

_SEPARATOR = b'", "'  # never in a part: quotes in it are escaped
_GRAPH = b"] gm:"
_HASH_AND_NAME = 200  # bytes at most, before a part's text
_MOST_GRAPHS = 64  # that are kept, of some 70 kB each
_MOST_PARTS = 8  # keys that differ in more are of different settings


class RepeatedGraphs:
    """The last key of each graph that a cache did not have in a process, as the JSON of its parts."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, bytes], bytes] = {}

    def differing(self, cache: str, parts: bytes) -> tuple[tuple[str, str], ...]:
        """The parts, then and now, in which a key differs from the graph's last one; none of a first one.

        `parts` is what stands between the outer quotes of torch's JSON list of them.
        """
        graph = _graph_in(parts)
        if graph is None:
            return ()
        its = self._last.pop((cache, graph), None)
        if len(self._last) >= _MOST_GRAPHS:
            del self._last[next(iter(self._last))]
        self._last[cache, graph] = parts
        return () if its is None or its == parts else _differing(its, parts)


def _differing(before: bytes, after: bytes) -> tuple[tuple[str, str], ...]:
    then, now = _by_name(before), _by_name(after)
    if then.keys() != now.keys():
        return ()
    names = [name for name, line in now.items() if _hash(line) != _hash(then[name])]
    if len(names) > _MOST_PARTS:
        return ()
    return tuple((_text(then[name]), _text(now[name])) for name in names)


def _by_name(parts: bytes) -> dict[bytes, bytes]:
    return {_name(line): line for line in parts.split(_SEPARATOR)}


def _graph_in(parts: bytes) -> bytes | None:
    """The part that is the graph, with its hash: mostly the first one."""
    at = parts.find(_GRAPH)
    while at >= 0:
        separator = parts.rfind(_SEPARATOR, 0, at)
        begin = 0 if separator < 0 else separator + len(_SEPARATOR)
        end = parts.find(_SEPARATOR, at)
        line = parts[begin : None if end < 0 else end]
        if _name(line) == b"gm":
            return line
        at = parts.find(_GRAPH, at + 1)
    return None


def _hash(line: bytes) -> bytes:
    return line.partition(b"]")[0]


def _name(line: bytes) -> bytes:
    return line[:_HASH_AND_NAME].partition(b"] ")[2].partition(b":")[0]


def _text(line: bytes) -> str:
    text = printable_json(f'"{line.decode("utf-8", "replace")}"')
    return text if isinstance(text, str) else ""
