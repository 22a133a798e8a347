"""A graph that was compiled before in the same process, and in what the two cache keys differ.

It is always known, without the parts of all keys in memory: a key is checked and taken apart, all 70 kB of
it, only where one of the same graph came before and was another.
Source of the parts: torch/_inductor/codecache.py (debug_lines), 2.8 to 2.13.
"""

from ..shared.untrusted import printable_json
from .records import Damaged, Record

_QUOTE, _SEPARATOR = b'"', b'", "'  # the latter is never in a part: quotes in it are escaped
KEY_PARTS = b"components"  # torch's name of the list
_GRAPH = b"] gm:"
_HASH_AND_NAME = 200  # bytes at most, before a part's text
_MOST_GRAPHS = 64  # that are kept, of some 70 kB each
_MOST_PARTS = 8  # keys that differ in more are of different settings


class RepeatedGraphs:
    """Of each graph that a cache did not have in a process, the last record that says so, with the key."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, bytes], Record] = {}

    def differing(self, cache: str, record: Record, parts: bytes) -> tuple[tuple[str, str], ...]:
        """The parts, then and now, in which a key differs from the graph's last one; none of a first one.

        `parts` is what stands between the brackets of torch's JSON list of them, in the record, which is
        Damaged if it is asked for and is not what was written.
        """
        graph, kept = _graph_in(parts), record.kept()
        if graph is None or kept is None:
            return ()
        before = self._last.pop((cache, graph), None)
        if len(self._last) >= _MOST_GRAPHS:
            del self._last[next(iter(self._last))]
        its = before.parted_payload(KEY_PARTS) if before else None
        if before is None or its is None or its[1] == parts:
            self._last[cache, graph] = kept
            return ()
        if not kept.is_whole():
            self._last[cache, graph] = before
            raise Damaged("payload differs from its checksum")
        self._last[cache, graph] = kept
        return _differing(its[1], parts) if before.is_whole() else ()


def _differing(before: bytes, after: bytes) -> tuple[tuple[str, str], ...]:
    then, now = _by_name(before), _by_name(after)
    if then.keys() != now.keys():
        return ()
    names = [name for name, line in now.items() if _hash(line) != _hash(then[name])]
    if len(names) > _MOST_PARTS:
        return ()
    return tuple((_text(then[name]), _text(now[name])) for name in names)


def _by_name(parts: bytes) -> dict[bytes, bytes]:
    return {_name(line): line for line in parts[1:-1].split(_SEPARATOR)}


def _graph_in(parts: bytes) -> bytes | None:
    """The part that is the graph, with its hash: mostly the first one."""
    at = parts.find(_GRAPH)
    while at >= 0:
        separator = parts.rfind(_SEPARATOR, 0, at)
        begin = len(_QUOTE) if separator < 0 else separator + len(_SEPARATOR)
        end = parts.find(_SEPARATOR, at)
        line = parts[begin : len(parts) - len(_QUOTE) if end < 0 else end]
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
