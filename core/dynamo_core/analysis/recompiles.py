"""Which frames were compiled again, which guard failed each time, and on which values."""

import re
from functools import cached_property
from itertools import chain
from typing import Annotated

from ..model import (
    Compile,
    CompileId,
    Frame,
    Graph,
    GuardCheck,
    GuardFailure,
    Place,
    Process,
    Recording,
    Specialization,
    StackFrame,
    Symbol,
)
from ..recording.guards import plain_source, split_comment
from ..shared.quick_dataclass import dataclass
from .compile_records import CompileRecords
from .summary import frame_of
from .words import frame_name, number

_TYPE = re.compile(r", type=<class '([^']+)'>$")
_LIMIT = re.compile(r"recompile_?\s?limit|cache_size_limit", re.IGNORECASE)
# How near an entry came, by what it failed on: calls that differ in a size or a number are of one sort, those
# that differ in how many arguments there are of another. What is not here is in between.
_NEAREST = (
    "relation of sizes",
    "size",
    "value",
    "comparison",
    "stride",
    "requires_grad",
    "dtype",
    "dispatch keys",
    "device",
)
_FARTHEST = ("global state", "attribute", "rank", "type", "length", "dictionary", "identity", "freed object")


@dataclass(frozen=True)
class FrameRecompiles:
    """The recompiles of one frame. `limit` is the compile that torch refused: it ran eager after that."""

    process: Process
    compiles: tuple[Compile, ...]
    limit: Compile | None
    records: CompileRecords

    @property
    def raised_at_limit(self) -> bool:
        """Whether torch raised an error at its limit, as `fail_on_recompile_limit_hit` has it."""
        frame = None if self.limit is None else self.records.frames.get(self.limit.compile_id)
        return frame is not None and frame.outcome == "raised"

    @property
    def name(self) -> str | None:
        """The function's name."""
        return next((compile_.name for compile_ in self.compiles if compile_.name), None)

    @property
    def shown_name(self) -> str:
        """`GPT2Model.forward` for a method of a module, also behind a wrapper, where that is known.

        Modules of torch's own, each compiled by itself, share a wrapper: it is then named after them all.
        """
        methods = dict.fromkeys(self.records.methods.of_frame(self._any_id).values())
        return ", ".join(methods) or frame_name(self.name)

    @property
    def compile_calls(self) -> set[StackFrame]:
        """The calls of torch.compile that made its versions, as far as they are known."""
        return {*self.records.compiled_by.of_frame(self._any_id).values()}

    @property
    def place(self) -> Place | None:
        """Where the function begins."""
        return next((compile_.place for compile_ in self.compiles if compile_.place), None)

    @property
    def seconds(self) -> float:
        """What they cost."""
        return sum(compile_.seconds or 0.0 for compile_ in self.compiles)

    @cached_property
    def symbols(self) -> list[Symbol]:
        """What its recompiles made dynamic, in order."""
        again = dict.fromkeys(compile_.compile_id for compile_ in self.compiles)
        return [symbol for compile_id in again for symbol in self.records.symbols.get(compile_id, ())]

    @property
    def specializations(self) -> list[Specialization]:
        """What was to be dynamic in any of its compiles, and could not be."""
        return [*chain(*self.records.specializations.of_frame(self._any_id).values())]

    @property
    def size_checks(self) -> list[GuardCheck]:
        """What its entries demand of sizes that are dynamic."""
        checks = chain(*self.records.checks.of_frame(self._any_id).values())
        return [check for check in checks if ".size()[" in check.code]

    @property
    def versions_called(self) -> list[int] | None:
        """How often each of its compiled versions was called; None where that was not recorded of all."""
        graphs = self.records.compiled_graphs.of_frame(self._any_id).values()
        calls = [graph.times.calls for graph in chain(*graphs) if graph.times is not None]
        return calls if calls and len(calls) == sum(map(len, graphs)) else None

    @property
    def _any_id(self) -> CompileId | None:
        return self.compiles[0].compile_id

    def failures(self, compile_: Compile) -> tuple[GuardFailure, ...]:
        """Why each cache entry could not be used, the newest entry first; empty where it was not recorded."""
        return self.records.failures.get(compile_.compile_id, ())

    def nearest(self, compile_: Compile) -> GuardFailure | None:
        """Why the entry could not be used that came nearest; of several the newest.

        Not an older one that failed on what a newer one, which failed on something else, leaves open.
        """
        failures = self.failures(compile_)
        closed = [each for each in failures if not self._was_opened_since(each, compile_)]
        return min(closed or failures, key=_distance, default=None)

    def _was_opened_since(self, failure: GuardFailure, compile_: Compile) -> bool:
        """Whether torch made it dynamic after the entry that failed was compiled, and before this compile."""
        entry, now = failure.entry, compile_.compile_id
        if failure.source is None or entry is None or now is None:
            return False
        if self.failures(compile_)[0].source == failure.source:
            return False  # the newest is on the same thing: open as a float, say, and an int came
        opened = failure.source if failure.index is None else f"{failure.source}.size()[{failure.index}]"
        return any((entry.compile or 0) < at < (now.compile or 0) for at in self._opened.get(opened, ()))

    @cached_property
    def _opened(self) -> dict[str, list[int]]:
        """In which compiles torch made something dynamic, by its plain name."""
        opened: dict[str, list[int]] = {}
        for symbol in self.symbols:
            if symbol.compile_id is not None:
                opened.setdefault(plain_source(symbol.source), []).append(symbol.compile_id.compile or 0)
        return opened

    def calls(self, compile_: Compile) -> int | None:
        """How often what this compile made has been called since; None where that was not counted."""
        return self.records.times_called.get(compile_.compile_id)

    def call(self, compile_: Compile) -> StackFrame | None:
        """The user's call that brought the recompile about."""
        return self.records.callers.get(compile_.compile_id)

    def line_of(self, failure: GuardFailure) -> StackFrame | None:
        """The line of a failed guard: torch names it, or the entry's own guard on the same source."""
        place, text = failure.place, failure.user_code
        if place is None:
            check = self._check_on(failure)
            if check is None or check.place is None:
                return None
            place, text = check.place, check.user_code
        return self.whole_line(text or "", place)

    def whole_line(self, text: str, place: Place) -> StackFrame:
        """A line of this frame, with the whole name of its file where torch has cut that short."""
        file = self.records.whole_files.get(place.file) or place.file
        return StackFrame(place._replace(file=file), self.name or "", text.strip())

    def _check_on(self, failure: GuardFailure) -> GuardCheck | None:
        checks = [check for check in self.records.checks.get(failure.entry, ()) if check.place is not None]
        same = (check for check in checks if plain_source(check.source) == failure.source)
        inside = (check for check in checks if plain_source(check.source).startswith(f"{failure.source}["))
        return next(same, None) or next(inside, None)

    def place_of(self, failure: GuardFailure) -> Place | None:
        """Where that line is."""
        line = self.line_of(failure)
        return None if line is None else line.place

    def full_source(self, failure: GuardFailure) -> str | None:
        """The source as torch's settings spell it: `L['x']` for `x`."""
        if failure.source is None:
            return None
        spelled = self.records.spelled_sources.get(failure.source)
        symbols = (each.source for each in self.symbols if plain_source(each.source) == failure.source)
        return spelled or next(symbols, None) or spelled_in_full(failure.source)

    def actual(self, compile_: Compile, failure: GuardFailure) -> str | None:
        """What came instead: torch says it, or the entry that was then compiled is guarded on it."""
        if failure.actual is not None or failure.kind not in ("value", "length"):
            return failure.actual
        for symbol in self.records.symbols.get(compile_.compile_id, ()):
            if plain_source(symbol.source) == failure.source:
                return symbol.hint
        checks = self.records.checks.get(compile_.compile_id, ())
        same = [check for check in checks if plain_source(check.source) == failure.source]
        return next((value for check in same if (value := _demanded(check, failure.kind))), None)


def frames_recompiled(recording: Recording) -> list[FrameRecompiles]:
    """The frames that were compiled again, in the order in which that began."""
    found = []
    for process in recording.processes:
        by_frame: dict[object, list[Compile]] = {}
        for compile_ in process.recompiles:
            by_frame.setdefault(frame_of(compile_.compile_id), []).append(compile_)
        records = CompileRecords(process)
        for compiles in by_frame.values():
            limit = next((c for c in compiles if is_recompile_limit(c.fail_reason)), None)
            found.append(FrameRecompiles(process, tuple(compiles), limit, records))
    return found


def _distance(failure: GuardFailure) -> int:
    if failure.kind in _NEAREST:
        return 0
    return 2 + _FARTHEST.index(failure.kind) if failure.kind in _FARTHEST else 1


def is_recompile_limit(reason: str | None) -> bool:
    """Whether torch refused to compile a frame once more, so that it runs eager from then on."""
    return bool(reason and _LIMIT.search(reason))


_FIRST_NAME = re.compile(r"[A-Za-z_]\w*")


def spelled_in_full(source: str) -> str:
    """`L['x'].y` for `x.y`, which is how guard failures spell it; what is global stays as it is."""
    first = _FIRST_NAME.match(source)
    if first is None or source.startswith(("G[", "L[")):
        return source
    return f"L['{first[0]}']{source[first.end() :]}"


def _demanded(check: GuardCheck, kind: str) -> str | None:
    """The value, or the length, or else the type, that a check lets pass."""
    code = split_comment(check.code)[0]
    if kind == "length":
        _, is_length, length = code.rpartition(" == ")
        return length if is_length and code.startswith("len(") else None
    if code.startswith(f"{check.source} == "):
        return code.removeprefix(f"{check.source} == ")
    if check.type == "TENSOR_MATCH":
        return "a tensor"
    named = _TYPE.search(code)
    if named is None or check.type not in ("TYPE_MATCH", "ID_MATCH"):
        return None
    return "None" if named[1] == "NoneType" else f"of type {named[1].removeprefix('builtins.')}"


# When a frame was compiled again: how long after the begin, in which of its calls, in which thread.


@dataclass(frozen=True)
class Moment:
    """When it was, as far as that was recorded."""

    seconds: Annotated[float | None, "from when the program began"]
    call: Annotated[int | None, "of the frame's compiled versions, from 1; null where not all were noted"]
    thread: Annotated[str | None, "its name; null for the main one, or where it was not recorded"]


def moment_of(compile_id: CompileId | None, records: CompileRecords, recording: Recording) -> Moment:
    """The moment at which a compile began, as far as it is known."""
    frame = records.frames.get(compile_id)
    began_ns = None if frame is None else _began(frame)
    if frame is None or began_ns is None:
        return Moment(None, None, None)
    since_begin = seconds_since_begin(began_ns, records.process.entire, recording)
    return Moment(since_begin, _call(compile_id, records, began_ns), frame.thread)


def seconds_since_begin(at_ns: int | None, process: Process, recording: Recording) -> float | None:
    """How long after the program began that was; None where either is not known."""
    origin_ns = recording.run.started_ns if recording.run is not None else process.info.began_ns
    return None if origin_ns is None or at_ns is None else max(0.0, (at_ns - origin_ns) / 1e9)


def _began(frame: Frame) -> int | None:
    if frame.ended_ns is None or frame.seconds is None:
        return None
    return frame.ended_ns - round(frame.seconds * 1e9)


def _call(compile_id: CompileId | None, records: CompileRecords, began_ns: int) -> int | None:
    """The number of the call that had to compile; None where the calls before it were not all noted."""
    if compile_id is None:
        return None
    calls = records.calls_of_frame(compile_id)
    if calls is None:
        return None
    least, most = calls.at(began_ns)
    return least + 1 if least == most else None


# How many calls of a frame at torch's recompile limit ran eager.
#
# They are counted for all frames of a process together (`capture/probes/frames.py`). That is this
# frame's number where no other was compiled, else at most so many: what a refused frame calls is not compiled
# either. Without that count, what goes on behind a graph break was called at most as often as the graph
# before the break, whose calls are counted: what stands at the break may raise, or return.


def how_often_eager(frame: FrameRecompiles) -> str:
    """`24 times`, `at most 24 times, as the graph before it ran 32 times`, or that it was not recorded."""
    counted = _counted(frame)
    if counted is not None:
        return counted
    versions, entered = frame.versions_called, times_entered(frame)
    if versions is None or entered is None or entered < sum(versions):
        return "how often was not recorded"
    eager = number(entered - sum(versions), "time")
    return f"at most {eager}, as the graph before it ran {number(entered, 'time')}"


def _counted(frame: FrameRecompiles) -> str | None:
    """What was counted, where no other frame of the process was refused."""
    process, limit = frame.process.entire, frame.limit
    if process.calls_at_limit is None or limit is None or limit.compile_id is None:
        return None
    refused = {frame_of(each.compile_id) for each in process.compiles if is_recompile_limit(each.fail_reason)}
    if refused != {frame_of(limit.compile_id)}:
        return None
    compiled = {frame_of(each.compile_id) for each in process.compiles}
    most = "at most " if compiled != refused else ""
    return f"{most}{number(process.calls_at_limit, 'time')}"


def times_entered(frame: FrameRecompiles) -> int | None:
    """How often, at most, the rest of a function behind a break was called; None where nothing tells.

    It follows where the graphs before lead there and nowhere else (a branch goes on in one of two functions),
    and each compiled version has one graph whose calls are counted.
    """
    records, compile_id = frame.records, frame.compiles[0].compile_id
    codes = records.codes.of_frame(compile_id)
    graphs = records.compiled_graphs.of_frame(compile_id)
    fingerprints = {code.fingerprint for code in chain(*codes.values())}
    if len(fingerprints) != 1 or set(codes) != set(graphs) or any(len(each) > 1 for each in graphs.values()):
        return None
    (fingerprint,) = fingerprints
    makers = records.makers.get(fingerprint, {})
    if len(records.frames_of_code[fingerprint]) > 1 or any(len(records.makes[each]) > 1 for each in makers):
        return None
    calls = [_calls(records.compiled_graphs.get(each, ()), each) for each in makers]
    known = [each for each in calls if each is not None]
    return sum(known) if calls and len(known) == len(calls) else None


def _calls(graphs: "list[Graph] | tuple[()]", compile_id: CompileId | None) -> int | None:
    """The calls of the one graph before the break; None where some of them did not come to the break."""
    if compile_id is None or len(graphs) != 1:
        return None
    (graph,) = graphs
    return None if graph.times is None or graph.times.raised else graph.calls
