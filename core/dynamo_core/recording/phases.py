"""Torch's timed spans as trees: what a compile spent its time on.

torch writes the start and the end of a span as a record each, `chromium_event` (torch/_dynamo/utils.py:
dynamo_timed and ChromiumEventLogger; read in 2.13, and traces of several older versions have the same events,
though fewer). An event does not say which thread it is of (`tid` is always 0), but torch's compile id is the
thread's. So spans nest within a compile id; those of worker threads, which have no id, are kept separately.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from itertools import chain
from typing import Any, NamedTuple

from ..model import CompileId, Phase, Process
from ..shared.quick_dataclass import dataclass
from ..shared.text import printable
from .compile_context import CompileContext
from .trace_format import Damaged, Record

_DEEPEST = 64  # spans in spans; torch's are nested some twenty deep
_LATEST_NS = 2**63
_COMPILE_ID = re.compile(r"(?:!(\d{1,9})/?)?(?:(\d{1,9})/(\d{1,9}))?")
# The outermost span of a compile: where another one of that compile is open, its end is missing.
_OUTERMOST = "dynamo"
_INSTANT = b'"ph": "i"'  # in a text, the quotes would be escaped
# How most events are spelled. Text that matches was neither cut nor mixed with another record, so that it
# needs neither the checksum nor the JSON parser, which take several times as long.
_USUAL = re.compile(
    rb'\n\t\{\n\t"name": "([ !#-\[\]-~]+)",\n\t"ts": ((?:0|[1-9]\d{0,15})(?:\.\d{1,6})?),'
    rb'\n\t"args": \{\n\t(?:"fn_name": "([ !#-\[\]-~]+)",\n\t)?"compile_id": "([ !#-\[\]-~]*)"\n\t\},'
    rb'\n\t"ph": "([BE])",\n\t"cat": "dynamo_timed",\n\t"tid": 0,\n\t"pid": 0\n\t\}'
)

_COMPONENTS = b"components"  # of a cache key: 100 kB, which the record of the look-up has too

_Key = tuple[Any, ...]  # a compile id without its generation


class _Arguments(NamedTuple):
    """The arguments of an event that the model has."""

    function: str | None
    is_backward: bool | None
    cache_state: str | None

    def or_else(self, earlier: "_Arguments") -> "_Arguments":
        """These arguments; what is missing is taken from the start of the span."""
        is_backward = earlier.is_backward if self.is_backward is None else self.is_backward
        return _Arguments(
            self.function or earlier.function, is_backward, self.cache_state or earlier.cache_state
        )


_NO_ARGUMENTS = _Arguments(None, None, None)


class _Event(NamedTuple):
    """The begin or the end of a span, with the compile that its arguments name."""

    kind: str
    name: str
    at_ns: int
    compile_id: str | None
    arguments: _Arguments


@dataclass
class _Open:
    """A span that has begun."""

    name: str
    begin_ns: int
    compile_id: CompileId | None
    arguments: "_Arguments"
    children: list[Phase] = field(default_factory=list)

    def closed(self, end_ns: int | None, compile_id: CompileId | None) -> Phase:
        return Phase(
            name=self.name,
            begin_ns=self.begin_ns,
            end_ns=end_ns,
            compile_id=compile_id,
            function=self.arguments.function,
            is_backward=self.arguments.is_backward,
            cache_state=self.arguments.cache_state,
            children=tuple(self.children),
        )


class PhaseBuilder:
    """Builds the spans of one process, event by event; call `finish` when there are no more."""

    def __init__(self, process: Process, context: CompileContext) -> None:
        self._process = process
        self._context = context
        self._open: dict[_Key, list[_Open]] = {}

    def add(self, record: Record) -> None:
        """Take one event. An end without a begin counts as damage."""
        event = _usual_event(record) or _event(record)
        if event is None:
            return
        compile_id = self._context.id_of(record) or _named_id(event.compile_id, self._context.generation)
        stack = self._open.setdefault(compile_id[:3] if compile_id else (), [])
        if event.kind == "B":
            self._begin(stack, _Open(event.name, event.at_ns, compile_id, event.arguments))
        else:
            self._end(stack, event, compile_id)

    def _begin(self, stack: list[_Open], span: _Open) -> None:
        if span.name == _OUTERMOST and span.compile_id is not None:
            self._cut_off(stack, 0)
        if len(stack) >= _DEEPEST:
            raise Damaged("spans nested deeper than torch's ever are")
        stack.append(span)

    def _end(self, stack: list[_Open], event: _Event, compile_id: CompileId | None) -> None:
        depth = len(stack) - 1
        while depth >= 0 and stack[depth].name != event.name:
            depth -= 1
        if depth < 0:
            raise Damaged("a span that ends without having begun")
        if compile_id is not None:
            self._cut_off(stack, depth + 1)
        # Without an id, the spans inside may be of other threads: they stay open.
        span = stack.pop(depth)
        if event.arguments is not _NO_ARGUMENTS:
            span.arguments = event.arguments.or_else(span.arguments)
        self._keep(stack, depth, span.closed(max(event.at_ns, span.begin_ns), compile_id))

    def _cut_off(self, stack: list[_Open], depth: int) -> None:
        """Close the open spans from `depth` on, whose end is not recorded."""
        while len(stack) > depth:
            span = stack.pop()
            self._keep(stack, len(stack), span.closed(None, span.compile_id))

    def _keep(self, stack: list[_Open], depth: int, phase: Phase) -> None:
        """Put a phase below the span at this depth of the stack, or at the top."""
        if depth:
            stack[depth - 1].children.append(phase)
        else:
            self._process.phases.append(phase)

    def finish(self) -> None:
        """Close the open spans, and move those of threads beside a compile to `parallel_phases`."""
        for stack in self._open.values():
            self._cut_off(stack, 0)
        self._open.clear()
        process = self._process
        process.phases.sort(key=lambda phase: phase.begin_ns)
        outermost: list[Phase] = []
        running: list[tuple[int, CompileId]] = []  # compiles and their ends; one may begin inside another
        for phase in process.phases:
            while running and running[-1][0] <= phase.begin_ns:
                running.pop()
            if phase.compile_id is None and running:
                process.parallel_phases.extend(_flat([phase], running[-1][1]))
            else:
                outermost.append(phase)
            if phase.compile_id is not None:
                running.append((phase.last_ns, phase.compile_id))
        process.phases[:] = outermost


def _usual_event(record: Record) -> _Event | None:
    """The event, if it is spelled as most events are."""
    found = record.match_payload(_USUAL)
    if found is None:
        return None
    name, at, function, compile_id, kind = found.groups()
    return _Event(
        kind.decode("ascii"),
        name.decode("ascii"),
        _in_nanoseconds(float(at) if b"." in at else int(at)),
        compile_id.decode("ascii"),
        _NO_ARGUMENTS if function is None else _Arguments(function.decode("ascii"), None, None),
    )


def _event(record: Record) -> _Event | None:
    """The event, parsed as JSON; None if it neither begins nor ends a span."""
    if record.mentions_at_its_end(_INSTANT):  # its long text on caches is in another record, too
        return None
    event = record.unsafe_json_payload(without=_COMPONENTS)
    kind, name, given = event["ph"], event["name"], event.get("args") or {}
    if kind not in ("B", "E"):
        return None
    if not isinstance(name, str) or not isinstance(given, dict):
        raise Damaged("an event that is none of torch's")
    arguments = _NO_ARGUMENTS
    if len(given) > ("compile_id" in given):  # most tell no more
        arguments = _Arguments(
            _argument(given, "fn_name", str),
            _argument(given, "is_backward", bool),
            _argument(given, "cache_state", str),
        )
    at = _nanoseconds(event["ts"])
    return _Event(kind, printable(name), at, _argument(given, "compile_id", str), arguments)


def _flat(phases: Iterable[Phase], compile_id: CompileId | None) -> Iterable[Phase]:
    """Spans of several threads, which only appear to be nested, as a flat list of this compile."""
    for phase in phases:
        yield replace(phase, compile_id=compile_id, children=())
        yield from chain.from_iterable(_flat([child], compile_id) for child in phase.children)


def _nanoseconds(microseconds: Any) -> int:
    if isinstance(microseconds, bool) or not isinstance(microseconds, int | float):
        raise Damaged("a time that is no number")
    return _in_nanoseconds(microseconds)


def _in_nanoseconds(microseconds: float) -> int:
    whole = int(microseconds)  # separately, since a floating point product would round the rest
    at = whole * 1000 + round((microseconds - whole) * 1000)
    if abs(at) >= _LATEST_NS:
        raise Damaged("a time that no clock shows")
    return at


def _named_id(text: str | None, generation: int) -> CompileId | None:
    """The compile that an event names, where its record has none, as for kernels tuned at run time."""
    found = _COMPILE_ID.fullmatch(text or "")
    if found is None or not found[0]:
        return None
    autograd, frame, compile_ = (None if part is None else int(part) for part in found.groups())
    return CompileId(frame, compile_, autograd, generation)


def _argument(arguments: Mapping[str, Any], name: str, kind: type) -> Any:
    value = arguments.get(name)
    if value is not None and not isinstance(value, kind):
        raise Damaged(f"{name} is no {kind.__name__}")
    return printable(value) if isinstance(value, str) else value
