"""The events of the profiled window, one by one, from the trace that torch's profiler left by the stream.

The model has their totals. Times in the trace are microseconds from its `baseTimeNanoseconds`, which is since
the epoch (kineto: libkineto/src/output_json.cpp, handleTraceStart and transToRelativeTime).
"""

import gzip
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..model import Process
from ..shared.names import PROFILE_PREFIX, PROFILE_SUFFIX
from .plain_files import open_plain
from .records import Damaged
from .trace_events import trace_events

UNREADABLE = (Damaged, OSError, EOFError, zlib.error)
_BASE = re.compile(rb'"baseTimeNanoseconds"\s*:\s*(\d{1,19})\b')
_HEAD = 1 << 20  # bytes


def window_events(process: Process) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Each event with the time that its own are counted from; none where there was no window.

    Raises one of UNREADABLE where the trace cannot be read, or its end.
    """
    if process.window is None or process.whole is not None:
        return
    name = f"{PROFILE_PREFIX}{process.info.pid}_times_{process.window.begin_ns}{PROFILE_SUFFIX}"
    file = process.stream.parent / name
    base = _base_ns(file)
    if base is not None:
        for event in trace_events(file):
            yield base, event


def _base_ns(file: Path) -> int | None:
    with open_plain(file) as packed, gzip.open(packed) as opened:
        head, _, _ = opened.read(_HEAD).partition(b'"traceEvents"')
    found = _BASE.search(head)
    return None if found is None else int(found[1])
