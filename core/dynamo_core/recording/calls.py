"""Read the counters of a process: how often each graph was called, and what could not be written."""

import struct
from dataclasses import dataclass

from ..capture.call_counters import FORMAT_MARK, HEADER_WORDS


@dataclass(frozen=True)
class Calls:
    """`graphs[i]` is (calls, nanoseconds) of the graph with calls index i."""

    lost_records: int
    last_errno: int
    graphs: list[tuple[int, int]]


def parse_calls(data: bytes) -> Calls | None:
    """The counters in a file's bytes; None if they are none."""
    words = struct.unpack(f"={len(data) // 8}q", data[: len(data) // 8 * 8])
    if len(words) < HEADER_WORDS or words[0] != FORMAT_MARK:
        return None
    in_use = min(words[3], (len(words) - HEADER_WORDS) // 2)
    pairs = words[HEADER_WORDS : HEADER_WORDS + 2 * in_use]
    return Calls(words[1], words[2], list(zip(pairs[::2], pairs[1::2], strict=True)))
