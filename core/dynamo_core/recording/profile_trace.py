"""Reads a torch.profiler trace and sums its steps: operators, kernels and memory, by compiled graph.

An event belongs to the events that enclose it in its thread; a kernel to those that enclose its launch, which
has the same correlation number. Names and arguments of events are kineto's and torch's: torch/csrc/autograd/
profiler_kineto.cpp, torch/csrc/profiler/collection.cpp, libkineto/src/output_json.cpp; seen with 2.13.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ..model import GraphPart, Place
from ..shared.text import printable
from .trace_events import trace_events
from .trace_format import Damaged

Thread = tuple[str, str]
SpanKey = tuple[Literal["optimizer step", "loader"], str]

_MOST_EVENTS = 4_000_000
_PART = re.compile(r"dynamo (backward of )?graph (\d{1,9}|-) \[([^\]]{0,40})\]")
_LINE = re.compile(r"dynamo line (.{1,4200}):(\d{1,9})", re.DOTALL)
# Operators, without autograd's own events and those of Dynamo and AOTAutograd.
_OPERATOR = re.compile(r"(?!autograd::|torch::)\w+::[\w.]+")
# Spans that torch marks itself (record_function): torch/optim/optimizer.py (Optimizer.profile_hook_step) and
# torch/utils/data/dataloader.py (_BaseDataLoaderIter.__next__).
_OPTIMIZER_STEP = re.compile(r"Optimizer\.step#(.{1,200})\.step")
_LOADER = re.compile(r"enumerate\(DataLoader\)#(.{1,200})\.__next__")
_FORWARD_FUNCTION = "CompiledFunction"  # torch/_functorch/_aot_autograd/runtime_wrappers.py
_BACKWARD_FUNCTION = "CompiledFunctionBackward"
_BACKWARD_NODE = "autograd::engine::evaluate_function: "
_LAUNCH_CATEGORIES = ("cuda_runtime", "cuda_driver")
_DEVICE_CATEGORIES = ("kernel", "gpu_memcpy", "gpu_memset")
_GRAPH_LAUNCH = ("cudaGraphLaunch", "cuGraphLaunch", "hipGraphLaunch")
_PROFILER_SPAN = "Trace"
_UNKNOWN_BACKWARD = GraphPart(None, True)


class _Kind(Enum):
    PART = 1  # a compiled graph's forward or backward
    OPERATOR = 2
    LAUNCH = 3
    LINE = 4
    FUNCTION = 5  # the autograd function around a forward
    NODE = 6  # a step of autograd's backward
    SPAN = 7  # an optimizer's step, or waiting for a loader


class _HostEvent(NamedTuple):
    start: float  # microseconds, as all times here
    end: float
    kind: _Kind
    name: str
    detail: Any  # by kind: the part, a correlation number, a place, a sequence number, a key


class _DeviceEvent(NamedTuple):
    name: str
    device: str
    start: float
    duration: float
    correlation: int | None
    bytes: int | None


@dataclass(slots=True)
class EagerCall:
    """A call of an operator outside of graphs and other operators."""

    step: int
    thread: Thread
    name: str
    start: float
    duration: float
    place: Place | None
    sequence: int | None  # autograd's number of the forward call that this is, or is the backward of
    kernel_duration: float = 0.0


@dataclass(slots=True)
class PartTotals:
    """Totals of one part of a graph over all its calls; `spans` are the calls."""

    duration: float = 0.0
    operator_calls: int = 0
    operator_duration: float = 0.0
    kernels: int = 0
    kernel_duration: float = 0.0
    graph_launches: int = 0
    spans: list[tuple[float, float]] = field(default_factory=list)


@dataclass(slots=True)
class SpanTotals:
    """Totals of the spans of one kind and name, without spans inside them.

    `in_graphs` is the part of the duration inside compiled graphs.
    """

    calls: int = 0
    duration: float = 0.0
    in_graphs: float = 0.0
    places: dict[Place, None] = field(default_factory=dict)


@dataclass(slots=True)
class Steps:
    """The steps of a trace, from the anchor's call to its next, added up. Durations are in microseconds.

    `memory` is in bytes beyond what was allocated as the first step began.
    """

    steps: int
    duration: float
    damaged: int
    parts: dict[GraphPart, PartTotals] = field(default_factory=dict)
    operators: dict[tuple[str, GraphPart | None], list[float]] = field(default_factory=dict)
    eager: list[EagerCall] = field(default_factory=list)
    kernels: dict[tuple[str, GraphPart | None, str], list[float]] = field(default_factory=dict)
    kernel_bytes: dict[tuple[str, GraphPart | None, str], int] = field(default_factory=dict)
    extra_bytes: dict[GraphPart, dict[str, int]] = field(default_factory=dict)
    memory: dict[str, tuple[int, int]] = field(default_factory=dict)  # by device: the most, the last
    spans: dict[SpanKey, SpanTotals] = field(default_factory=dict)


def read_steps(
    path: Path, anchor: int, warm_up: int, is_last_whole: bool, numbers: Mapping[str, int]
) -> Steps:
    """The steps in the trace at `path`, without the first `warm_up`.

    `numbers` are graph numbers by compile id, for a backward whose event has no number. The step that begins
    with the last call of the anchor counts if it is whole. Damaged if no step counts.
    """
    trace = _Trace(numbers)
    for event in trace_events(path):
        trace.add(event)
    starts = trace.starts_of(anchor)[warm_up:]
    end = trace.end if is_last_whole else (starts.pop() if starts else 0.0)
    if not starts or end <= starts[0]:
        raise Damaged("no whole step in it")
    steps = Steps(len(starts), end - starts[0], trace.damaged)
    _Sweep(trace, steps, starts, end).run()
    return steps


class _Trace:
    """The events of a trace that are used, by thread."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self._numbers = numbers
        self._names: dict[str, str] = {}
        self._places: dict[str, Place] = {}
        self._kept = 0
        self._external_bytes: dict[int, int] = {}
        self.host: dict[Thread, list[_HostEvent]] = {}
        self.device: list[tuple[_DeviceEvent, int | None]] = []
        self.allocations: dict[str, list[tuple[float, int, int]]] = {}  # by device: time, total, change
        self.end = 0.0
        self.damaged = 0

    def add(self, event: Mapping[str, Any]) -> None:
        """Take one event; an event that cannot be understood is counted as damaged."""
        try:
            if event.get("ph") == "X":
                self._add_span(event)
            elif event.get("name") == "[memory]":
                self._add_allocation(event["args"], _time(event["ts"]))
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
            self.damaged += 1
        if self._kept > _MOST_EVENTS:
            raise Damaged(f"it has more than {_MOST_EVENTS:,} events")

    def starts_of(self, anchor: int) -> list[float]:
        """The times at which the anchor was called, in the thread that called it most."""
        wanted = GraphPart(anchor, False)
        most: list[float] = []
        for events in self.host.values():
            starts = [event.start for event in events if event.kind is _Kind.PART and event.detail == wanted]
            most = max(most, starts, key=len)
        return sorted(most)

    def bytes_of(self, event: _DeviceEvent, external: int | None) -> int | None:
        """The bytes that a kernel moved, by the device, or else by Inductor's annotation of its launch."""
        if event.bytes is not None or external is None:
            return event.bytes
        return self._external_bytes.get(external)

    def _add_span(self, event: Mapping[str, Any]) -> None:
        category, start = event["cat"], _time(event["ts"])
        end = start + max(0.0, _time(event["dur"]))
        if category == _PROFILER_SPAN:
            self.end = max(self.end, end)
            return
        name, arguments = event["name"], event.get("args") or {}
        if category in _DEVICE_CATEGORIES:
            self._add_device(self._name(name), start, end - start, arguments)
        elif category in ("cpu_op", "user_annotation"):
            self._add_host(event, self._name(name), start, end, arguments)
        elif category in _LAUNCH_CATEGORIES:
            self._keep(
                event, _HostEvent(start, end, _Kind.LAUNCH, self._name(name), arguments["correlation"])
            )

    def _add_host(self, event: Any, name: str, start: float, end: float, arguments: Any) -> None:
        sequence = arguments.get("Sequence number")
        if found := _PART.fullmatch(name):
            number = int(found[2]) if found[2] != "-" else self._numbers.get(found[3])
            self._keep(event, _HostEvent(start, end, _Kind.PART, name, GraphPart(number, bool(found[1]))))
        elif found := _LINE.fullmatch(name):
            place = self._places.setdefault(name, Place(found[1], int(found[2])))
            self._keep(event, _HostEvent(start, end, _Kind.LINE, "", place))
        elif _OPERATOR.fullmatch(name):
            self._keep(event, _HostEvent(start, end, _Kind.OPERATOR, name, sequence))
        elif found := _OPTIMIZER_STEP.fullmatch(name):
            self._keep(event, _HostEvent(start, end, _Kind.SPAN, name, ("optimizer step", found[1])))
        elif found := _LOADER.fullmatch(name):
            self._keep(event, _HostEvent(start, end, _Kind.SPAN, name, ("loader", found[1])))
        elif name == _FORWARD_FUNCTION:
            self._keep(event, _HostEvent(start, end, _Kind.FUNCTION, name, sequence))
        elif name == _BACKWARD_FUNCTION or name.startswith(_BACKWARD_NODE):
            self._keep(event, _HostEvent(start, end, _Kind.NODE, name, sequence))
        if "kernel_num_gb" in arguments:
            self._external_bytes[arguments["External id"]] = int(arguments["kernel_num_gb"] * 1e9)

    def _keep(self, event: Mapping[str, Any], kept: _HostEvent) -> None:
        thread = (str(event["pid"]), str(event["tid"]))
        self.host.setdefault(thread, []).append(kept)
        self._kept += 1

    def _add_device(self, name: str, start: float, duration: float, arguments: Any) -> None:
        bytes_ = arguments.get("bytes")
        event = _DeviceEvent(
            name=name,
            device=f"cuda:{int(arguments.get('device', 0))}",
            start=start,
            duration=duration,
            correlation=arguments.get("correlation"),
            bytes=None if bytes_ is None else int(bytes_),
        )
        self.device.append((event, arguments.get("External id")))
        self._kept += 1

    def _add_allocation(self, arguments: Mapping[str, Any], time: float) -> None:
        type_, index = int(arguments["Device Type"]), int(arguments["Device Id"])
        device = "cpu" if type_ == 0 else f"cuda:{index}" if type_ == 1 else f"device {type_}:{index}"
        change = (time, int(arguments["Total Allocated"]), int(arguments["Bytes"]))
        self.allocations.setdefault(device, []).append(change)
        self._kept += 1

    def _name(self, name: Any) -> str:
        if not isinstance(name, str):
            raise TypeError("a name that is no text")
        return self._names.setdefault(name, printable(name))


class _Open:
    """An event on the stack of a thread, which encloses the events that follow until its end."""

    __slots__ = ("children", "eager", "end", "event", "in_graphs", "in_spans", "part", "sequence", "span")

    def __init__(self, event: _HostEvent, end: float, around: "_Open | None") -> None:
        self.event = event
        self.end = end
        self.children = 0.0  # duration to be subtracted from its own
        self.in_spans = 0.0  # the part of its duration inside spans
        self.in_graphs = 0.0  # inside graphs, outside of spans
        self.part: GraphPart | None = around.part if around else None
        self.eager: EagerCall | None = around.eager if around else None
        self.sequence: int | None = around.sequence if around else None
        self.span: SpanKey | None = around.span if around else None


class _Sweep:
    """Goes through each thread's events in order, with a stack of the open events."""

    def __init__(self, trace: _Trace, steps: Steps, starts: list[float], end: float) -> None:
        self._trace = trace
        self._steps = steps
        self._starts = starts
        self._end = end
        self._launches: dict[int, _Open | None] = {}  # by correlation; None outside of the steps
        self._parts_of_functions = dict(self._functions())

    def run(self) -> None:
        """Sum all steps of the window into `steps`."""
        for thread, events in self._trace.host.items():
            self._sweep(thread, events)
        self._place_backward()
        self._add_kernels()
        self._add_memory()

    def _functions(self) -> Iterator[tuple[int, GraphPart]]:
        """The backward part by the sequence number of each autograd function around a forward."""
        for events in self._trace.host.values():
            part, part_end = None, 0.0
            for event in sorted(events, key=_in_order):
                if event.kind is _Kind.PART and not event.detail.is_backward:
                    part, part_end = event.detail, event.end
                elif event.kind is _Kind.FUNCTION and part is not None and event.start < part_end:
                    yield event.detail, GraphPart(part.number, True)

    def _sweep(self, thread: Thread, events: Iterable[_HostEvent]) -> None:
        stack: list[_Open] = []
        place: Place | None = None
        for event in sorted(events, key=_in_order):
            while stack and stack[-1].end <= event.start:
                self._close(stack)
            if event.kind is _Kind.LINE:
                place = event.detail
                continue
            if event.kind is _Kind.SPAN and event.start < self._starts[0] < event.end:
                # An optimizer's step may call the graph that begins a step of ours, in its closure.
                event = event._replace(start=self._starts[0])
            if not self._starts[0] <= event.start < self._end:
                if event.kind is _Kind.LAUNCH:
                    self._launches.setdefault(event.detail, None)
                continue
            around = stack[-1] if stack else None
            opened = _Open(event, min(event.end, self._end), around)
            stack.append(opened)
            if event.kind is _Kind.PART:
                self._enter_part(opened, event.detail)
            elif event.kind is _Kind.NODE:
                opened.sequence = event.detail
                if event.name.endswith(_BACKWARD_FUNCTION):
                    self._enter_part(opened, self._parts_of_functions.get(event.detail, _UNKNOWN_BACKWARD))
            elif event.kind is _Kind.OPERATOR:
                self._enter_operator(opened, thread, place)
            elif event.kind is _Kind.SPAN:
                self._enter_span(opened, place)
            elif event.kind is _Kind.LAUNCH:
                self._launches[event.detail] = opened
                if event.name.startswith(_GRAPH_LAUNCH) and opened.part is not None:
                    self._totals(opened.part).graph_launches += 1
        while stack:
            self._close(stack)

    def _enter_part(self, opened: _Open, part: GraphPart) -> None:
        around = opened.part
        is_same_backward = part.is_backward and around is not None and around.is_backward and around.number
        if around is not None and (part.number is None or is_same_backward):
            return  # the part around it is surer: found by sequence number, this one at most by compile id
        is_new = opened.part != part
        opened.part, opened.eager = part, None
        if is_new:
            self._totals(part).spans.append((opened.event.start, opened.end))

    def _enter_operator(self, opened: _Open, thread: Thread, place: Place | None) -> None:
        event = opened.event
        if opened.part is not None or opened.eager is not None:
            return
        step = bisect_right(self._starts, event.start) - 1
        sequence = event.detail if opened.sequence is None else opened.sequence
        duration = opened.end - event.start
        opened.eager = EagerCall(step, thread, event.name, event.start, duration, place, sequence)
        self._steps.eager.append(opened.eager)

    def _enter_span(self, opened: _Open, place: Place | None) -> None:
        key: SpanKey = opened.event.detail
        totals = self._steps.spans.setdefault(key, SpanTotals())
        totals.calls += opened.span != key  # not: a subclass that calls its base class's step
        if place is not None:
            totals.places[place] = None
        opened.span = key

    def _close(self, stack: list[_Open]) -> None:
        closed = stack.pop()
        duration = closed.end - closed.event.start
        own = max(0.0, duration - closed.children)
        around = stack[-1] if stack else None
        is_operator = closed.event.kind is _Kind.OPERATOR
        is_new_part = closed.part is not None and (around is None or around.part != closed.part)
        if is_operator:
            self._note_operator(closed, stack, own, duration)
        if is_new_part and closed.part is not None:
            self._note_part(closed, stack, duration)
        if closed.event.kind is _Kind.SPAN:
            self._note_span(closed, duration)
            closed.in_spans, closed.in_graphs = duration, 0.0
        elif is_new_part:
            closed.in_graphs = duration - closed.in_spans
        if around is not None:
            around.in_spans += closed.in_spans
            around.in_graphs += closed.in_graphs
            # An operator or a part accounts for its whole duration, another event for that of its children.
            around.children += duration if is_operator or is_new_part else closed.children

    def _note_operator(self, closed: _Open, stack: list[_Open], own: float, duration: float) -> None:
        figures = self._steps.operators.setdefault((closed.event.name, closed.part), [0, 0.0, 0.0])
        figures[0] += 1
        figures[1] += own
        figures[2] += duration
        if closed.part is None:
            return
        totals = self._totals(closed.part)
        totals.operator_duration += own
        if not any(outer.event.kind is _Kind.OPERATOR and outer.part == closed.part for outer in stack):
            totals.operator_calls += 1

    def _note_part(self, closed: _Open, stack: list[_Open], duration: float) -> None:
        assert closed.part is not None
        self._totals(closed.part).duration += duration
        outer = stack[-1].part if stack else None
        if outer is not None:
            self._totals(outer).duration -= duration

    def _note_span(self, closed: _Open, duration: float) -> None:
        totals = self._steps.spans[closed.event.detail]
        totals.duration += duration - closed.in_spans
        totals.in_graphs += closed.in_graphs

    def _totals(self, part: GraphPart) -> PartTotals:
        return self._steps.parts.setdefault(part, PartTotals())

    def _place_backward(self) -> None:
        """Give operators in autograd's own threads, where no line runs, the line of their forward."""
        places = {
            call.sequence: call.place
            for call in self._steps.eager
            if call.sequence is not None and call.place is not None
        }
        for call in self._steps.eager:
            if call.place is None and call.sequence is not None:
                call.place = places.get(call.sequence)

    def _add_kernels(self) -> None:
        for event, external in self._trace.device:
            correlation = event.correlation
            if correlation is not None and correlation in self._launches:
                launch = self._launches[correlation]
                if launch is None:
                    continue
                part, eager = launch.part, launch.eager
            elif self._starts[0] <= event.start < self._end:
                part, eager = None, None
            else:
                continue
            key = (event.name, part, event.device)
            figures = self._steps.kernels.setdefault(key, [0, 0.0])
            figures[0] += 1
            figures[1] += event.duration
            moved = self._trace.bytes_of(event, external)
            if moved is not None:
                self._steps.kernel_bytes[key] = self._steps.kernel_bytes.get(key, 0) + moved
            if part is not None:
                self._totals(part).kernels += 1
                self._totals(part).kernel_duration += event.duration
            if eager is not None:
                eager.kernel_duration += event.duration

    def _add_memory(self) -> None:
        for device, changes in self._trace.allocations.items():
            changes.sort()
            times = [time for time, _, _ in changes]
            whole = changes[bisect_left(times, self._starts[0]) : bisect_right(times, self._end)]
            if whole:
                before = whole[0][1] - whole[0][2]
                most_of_all = max(total for _, total, _ in whole)
                self._steps.memory[device] = max(0, most_of_all - before), whole[-1][1] - before
            for part, totals in self._steps.parts.items():
                most = self._steps.extra_bytes.setdefault(part, {})
                for begin, end in totals.spans:
                    during = changes[bisect_left(times, begin) : bisect_right(times, end)]
                    if during:
                        before = during[0][1] - during[0][2]
                        extra = max(0, max(total for _, total, _ in during) - before)
                        most[device] = max(most.get(device, 0), extra)


def _in_order(event: _HostEvent) -> tuple[float, float]:
    """The sort key of events: by start; of several with one start, the enclosing event comes first."""
    return event.start, -event.end


def _time(value: Any) -> float:
    """A time as kineto writes it, in microseconds; ValueError for NaN and infinities."""
    time = float(value)
    if not abs(time) < 1e18:
        raise ValueError("no time")
    return time
