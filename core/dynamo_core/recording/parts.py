"""Parts of a stream that is being written, each as a recording of its own: what was recorded in one test.

The records come from this process itself, so they are checked less than a stranger's (`read.py`), which would
take a quarter of the time. Functions of `os` are imported by name: a test may have replaced them since.
"""

import re
from collections.abc import Container, Iterator
from os import close, dup, pread
from pathlib import Path
from weakref import finalize

from ..model import Health, Interventions, Process, ProcessEnd, Recording, Runtime
from ..shared import names
from ..shared.call_pages import PAGE_BYTES
from .build import ProcessBuilder
from .calls import CALL_SAMPLES, assign_calls, parse_calls
from .plain_files import open_plain
from .trace_format import Record, RecordParser

_CHUNK = 1 << 20  # bytes
# Records that are written once, and hold for all that follows.
_OF_THE_PROCESS = frozenset(
    {names.PROCESS_START, names.PROBE_FAILED, names.CAPTURE_DECISION, names.CONFIG_CHANGED}
    | {names.PROCESS_STATE, "torch_version"}
)
# A number for a file's name, and one for a notebook's cell.
_RECORDED_ONCE = _OF_THE_PROCESS | {"str", names.NOTEBOOK_CELL}
# To search for these is cheaper than to parse all records, and most tests write none of them.
_MAY_HOLD_ONE = re.compile("|".join(f'"{name}"' for name in sorted(_RECORDED_ONCE)).encode())


class StreamParts:
    """Reads parts of one process's stream, between two byte offsets, in their order."""

    def __init__(self, stream: Path) -> None:
        self._stream = stream
        self._descriptor: int | None = None
        self._read_up_to = 0
        self._known_empty = (0, 0)  # the last part, if none of its records is of the process
        self._process = Process(stream)
        self._of_process = ProcessBuilder(self._process)

    def recording(self, begin: int, end: int, contents: Container[str] = frozenset()) -> Recording:
        """The records from byte `begin` to byte `end` as a recording; OSError where they cannot be read.

        No part may begin before an earlier one. A part lacks the times of the process as a whole; it has the
        calls of its graphs only where `contents` has CALL_SAMPLES.
        """
        self._read_process_records(begin)
        process = self._process_so_far()
        builder = ProcessBuilder(process, contents, self._of_process)
        parser = RecordParser()
        for record in self._records(parser, begin, end):
            builder.add(record)
        if not process.health.record_counts.keys() & _OF_THE_PROCESS:
            self._known_empty = begin, end
        builder.finish()
        process.health.damaged_records += parser.damaged
        process.runtime.end = ProcessEnd()  # of the part
        if CALL_SAMPLES in contents:
            self._add_calls(process)
        return Recording(self._stream, None, [process], None, [])

    def _read_process_records(self, up_to: int) -> None:
        """Read the records of the process before this offset, where they have not been read yet."""
        begin, self._read_up_to = self._read_up_to, max(up_to, self._read_up_to)
        if self._known_empty[0] <= begin:
            begin = max(begin, self._known_empty[1])
        if begin >= up_to or (up_to - begin <= _CHUNK and not self._may_hold_one(begin, up_to)):
            return
        for record in self._records(RecordParser(), begin, up_to):
            if (record.artifact_name or record.kind) in _RECORDED_ONCE:
                self._of_process.add(record)

    def _process_so_far(self) -> Process:
        known = self._process
        return Process(
            self._stream,
            rank=known.rank,
            info=known.info,
            torch_version=known.torch_version,
            interventions=Interventions(
                captures=list(known.interventions.captures),
                changed_settings=list(known.interventions.changed_settings),
            ),
            runtime=Runtime(state=known.runtime.state),
            health=Health(failed_probes=dict(known.health.failed_probes)),
        )

    def _may_hold_one(self, begin: int, end: int) -> bool:
        return _MAY_HOLD_ONE.search(self._bytes(begin, end - begin)) is not None

    def _bytes(self, begin: int, count: int) -> bytes:
        """At most `count` bytes of the stream from `begin`. It is opened once, since there are many parts."""
        if self._descriptor is None:
            with open_plain(self._stream) as file:
                self._descriptor = dup(file.fileno())
            finalize(self, close, self._descriptor)
        return pread(self._descriptor, count, begin)

    def _records(self, parser: RecordParser, begin: int, end: int) -> Iterator[Record]:
        """The records between two offsets, at each of which a record begins or the stream ends."""
        if begin >= end:
            return
        while begin < end and (data := self._bytes(begin, min(_CHUNK, end - begin))):
            begin += len(data)
            for record in parser.feed(data):
                record.is_own = True
                yield record
        last = parser.last_if_whole()
        if last is not None:
            yield last

    def _add_calls(self, process: Process) -> None:
        graphs = process.graphs
        pages = [p for graph in graphs for p in (graph.calls_index, graph.backward_index) if p is not None]
        name = process.info.calls_file
        if not pages or name is None:
            return
        first, last = min(pages), max(pages)
        with open_plain(self._stream.with_name(name)) as file:
            header = file.read(PAGE_BYTES)
            file.seek(PAGE_BYTES * (first + 1))
            content = file.read(PAGE_BYTES * (last - first + 1))
        calls = parse_calls(header + content)
        if calls is None:
            process.health.calls_problem = f"its counters file {name} is damaged"
            return
        assign_calls(process, calls, first)
