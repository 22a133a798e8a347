"""Reads the window of `dynamo run --profile`: its records, and the traces that they name.

The model has totals; `window_events` gives the single events. Times in a trace are microseconds from its
`baseTimeNanoseconds`, which is since the epoch (kineto: libkineto/src/output_json.cpp, handleTraceStart and
transToRelativeTime).
"""

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..model import (
    EagerOperator,
    Place,
    Process,
    ProfileWindow,
    StepMemory,
    WindowKernel,
    WindowOperator,
    WindowPart,
    WindowSpan,
)
from ..shared.names import PROFILE_PREFIX, PROFILE_SUFFIX
from ..shared.records import WindowNoted
from ..shared.text import printable
from ..shared.validation import matches
from .kernels import KernelSources
from .plain_files import is_plain_file, open_plain
from .profile_trace import EagerCall, Steps, read_steps
from .trace_events import trace_events
from .trace_format import Damaged

# The name is from a record, which may be a stranger's: it must not lead out of the folder.
_FILE = re.compile(re.escape(PROFILE_PREFIX) + r"\w+" + re.escape(PROFILE_SUFFIX))
_WRONG = (Damaged, OSError, KeyError, TypeError, ValueError, AttributeError, ArithmeticError)


def add_window(process: Process, records: Sequence[WindowNoted], folder: Path) -> None:
    """Set the window of `process` from its records, or the reason why there is none."""
    if not records:
        return
    by_kind = {record.kind: record for record in records}
    own_ns = [record.own_ns for record in records if record.own_ns is not None]
    process.profiling.seconds = max(own_ns) / 1e9 if own_ns else None
    end = by_kind.get("end")
    process.profiling.cuda_graph_counters = end.cuda_graphs if end is not None else None
    times = by_kind.get("times")
    if times is None:
        reason = end.why_none if end is not None else None
        cut = "the process ended abruptly while it was open" if "opened" in by_kind else None
        process.profiling.problem = printable(
            str(reason or cut or "the process ended abruptly before it opened")
        )
        return
    numbers = {
        str(graph.compile_id): graph.number for graph in process.graphs if graph.compile_id is not None
    }
    try:
        steps = _read(times, folder, numbers)
        lines, lines_problem = _read_lines(by_kind.get("lines"), end, folder, numbers)
        sources = KernelSources(process)
        window = _window(times, steps, lines, lines_problem, by_kind.get("lines"), sources)
        if not matches(window, ProfileWindow):
            raise Damaged("it holds values of the wrong type")
    except _WRONG as error:
        process.profiling.problem = printable(f"its trace cannot be read: {error}")
        process.health.damaged_records += isinstance(error, Damaged)
        return
    process.profiling.window = window


def _read(record: WindowNoted, folder: Path, numbers: Mapping[str, int]) -> Steps:
    if record.error is not None:
        raise ValueError(record.error)
    name = record.file
    if name is None or not _FILE.fullmatch(name) or not is_plain_file(folder / name):
        raise ValueError("it is not there")
    anchor, warm_up, is_last_whole = record.anchor, record.warm_up_steps, record.is_last_step_whole
    if anchor is None or warm_up is None or is_last_whole is None:
        raise Damaged("it is not said of which steps it is")
    return read_steps(folder / name, anchor, warm_up, is_last_whole, numbers)


def _read_lines(
    record: WindowNoted | None, end: WindowNoted | None, folder: Path, numbers: Mapping[str, int]
) -> tuple[Steps | None, str | None]:
    """The step that was recorded with lines and allocations, or why there is none."""
    if record is None:
        if end is None:
            return None, "the process ended abruptly before they were"
        return None, printable(end.why_no_lines or "the step that they are taken in was not recorded")
    try:
        return _read(record, folder, numbers), None
    except _WRONG as error:
        return None, printable(f"their trace cannot be read: {error}")


def _window(
    times: WindowNoted,
    steps: Steps,
    lines: Steps | None,
    lines_problem: str | None,
    lines_record: WindowNoted | None,
    sources: KernelSources,
) -> ProfileWindow:
    anchor, begin_ns, end_ns, compiles = times.anchor, times.begin_ns, times.end_ns, times.compiles
    if anchor is None or begin_ns is None or end_ns is None or compiles is None:
        raise Damaged("it is not said from when to when it is")
    if lines is None or lines_record is None:
        has_memory = False
    else:
        has_memory = bool(lines_record.has_memory)
        if not lines_record.has_lines:
            lines_problem = "the program traces its lines itself"
            if not lines_record.can_mark_lines:
                lines_problem = "on Python 3.10 marking them would keep tensors alive"
    return ProfileWindow(
        anchor=anchor,
        steps=steps.steps,
        seconds=steps.duration / 1e6,
        begin_ns=begin_ns,
        end_ns=end_ns,
        compiles=compiles,
        parts=tuple(_parts(steps, lines if has_memory else None, has_kernels=bool(times.has_device))),
        operators=tuple(
            WindowOperator(name, part, int(calls), own / 1e6, total / 1e6)
            for (name, part), (calls, own, total) in steps.operators.items()
        ),
        eager=tuple(
            _eager(
                steps.eager,
                lines.eager if lines is not None else [],
                has_kernels=bool(times.has_device),
            )
        ),
        kernels=tuple(_kernels(steps, sources)) if times.has_device else None,
        damaged_events=steps.damaged,
        lines_problem=lines_problem,
        spans=tuple(_spans(steps, lines)),
        memory=_memory(lines) if lines is not None and has_memory and lines.steps == 1 else None,
    )


def _parts(steps: Steps, memory: Steps | None, *, has_kernels: bool) -> Iterable[WindowPart]:
    for part, totals in steps.parts.items():
        yield WindowPart(
            graph=part,
            calls=len(totals.spans),
            seconds=totals.duration / 1e6,
            operator_calls=totals.operator_calls,
            operator_seconds=totals.operator_duration / 1e6,
            kernels=totals.kernels if has_kernels else None,
            kernel_seconds=totals.kernel_duration / 1e6 if has_kernels else None,
            cuda_graph_launches=totals.graph_launches if has_kernels else None,
            extra_bytes=None if memory is None else memory.extra_bytes.get(part, {}),
        )


def _memory(step: Steps) -> tuple[StepMemory, ...]:
    return tuple(StepMemory(device, most, growth) for device, (most, growth) in step.memory.items())


def _spans(steps: Steps, lines: Steps | None) -> Iterable[WindowSpan]:
    for (kind, name), totals in steps.spans.items():
        same = None if lines is None else lines.spans.get((kind, name))
        places = () if same is None else tuple(same.places)
        yield WindowSpan(kind, name, totals.calls, totals.duration / 1e6, totals.in_graphs / 1e6, places)


def _kernels(steps: Steps, sources: KernelSources) -> Iterable[WindowKernel]:
    for key, (calls, duration) in steps.kernels.items():
        name, part, device = key
        nodes, places = sources.of(name, part)
        moved = steps.kernel_bytes.get(key)
        yield WindowKernel(name, part, device, int(calls), duration / 1e6, moved, nodes, places)


def _eager(
    calls: Sequence[EagerCall], with_lines: Sequence[EagerCall], *, has_kernels: bool
) -> Iterable[EagerOperator]:
    """The calls by operator and line, with lines from the one step that was recorded with them.

    A step that called the same operators in the same order has the same lines. In other steps, an operator
    that only one line calls gets that line; the line of other operators is unknown.
    """
    pattern = {key: [(call.name, call.place) for call in group] for key, group in _groups(with_lines).items()}
    places_of: dict[str, set[Place | None]] = {}
    for call in with_lines:
        places_of.setdefault(call.name, set()).add(call.place)
    figures: dict[tuple[str, Place | None], list[float]] = {}
    for (_, thread), group in _groups(calls).items():
        with_places = pattern.get((0, thread), [])
        is_same = [name for name, _ in with_places] == [call.name for call in group]
        for index, call in enumerate(group):
            known = places_of.get(call.name, set())
            place = with_places[index][1] if is_same else next(iter(known)) if len(known) == 1 else None
            figure = figures.setdefault((call.name, place), [0, 0.0, 0.0])
            figure[0] += 1
            figure[1] += call.duration
            figure[2] += call.kernel_duration
    for (name, place), (count, duration, kernel) in figures.items():
        kernel_seconds = kernel / 1e6 if has_kernels else None
        yield EagerOperator(name, place, int(count), duration / 1e6, kernel_seconds)


def _groups(calls: Iterable[EagerCall]) -> dict[tuple[int, tuple[str, str]], list[EagerCall]]:
    """The calls by step and thread, each group in order."""
    groups: dict[tuple[int, tuple[str, str]], list[EagerCall]] = {}
    for call in sorted(calls, key=lambda call: call.start):
        groups.setdefault((call.step, call.thread), []).append(call)
    return groups


UNREADABLE = (Damaged, OSError, EOFError, zlib.error)
_BASE = re.compile(rb'"baseTimeNanoseconds"\s*:\s*(\d{1,19})\b')
_HEAD = 1 << 20  # bytes


def window_events(process: Process) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Each event of the window's trace, after the trace's base time; nothing where there was no window.

    Raises one of UNREADABLE where the trace, or the end of it, cannot be read.
    """
    if process.profiling.window is None or process.whole is not None:
        return
    name = f"{PROFILE_PREFIX}{process.info.pid}_times_{process.profiling.window.begin_ns}{PROFILE_SUFFIX}"
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
