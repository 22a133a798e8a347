"""The frames that were recompiled: the guards that failed, on which values, when, and eager calls after that.

Calls that run eager at torch's recompile limit are counted for all frames of a process together
(`capture/probes/frames.py`). That is the frame's number where no other frame was compiled, else an upper
bound: what a refused frame calls is not compiled either. Without that count, the code behind a graph break
was called at most as often as the graph before the break, whose calls are counted: the code at the break may
raise or return.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from operator import itemgetter
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
from ..recording.guards import GLOBAL_STATE_CHECK, plain_source, split_comment
from ..shared.failed_guard import sizes_in
from ..shared.quick_dataclass import dataclass
from .compile_records import CompileRecords
from .guard_failures import (
    CHECKED_LAST,
    compiled_for,
    differs_in_mode,
    distance_of,
    is_in_range,
    sizes_of_parameters,
    static_marks,
    walk_in,
)
from .guard_text import changed_settings, global_state
from .summary import frame_around, frame_of
from .words import frame_name, number

_NAMED = 3  # of the modules that share a code
_TYPE = re.compile(r", type=<class '([^']+)'>$")
_LIMIT = re.compile(r"recompile_?\s?limit|cache_size_limit", re.IGNORECASE)


@dataclass(frozen=True)
class FrameRecompiles:
    """The recompiles of one frame; `limit` is the compile that torch refused: it ran eager from then on."""

    process: Process
    compiles: tuple[Compile, ...]
    limit: Compile | None
    records: CompileRecords

    @property
    def raised_at_limit(self) -> bool:
        """Whether torch raised an error at its limit, which it does with `fail_on_recompile_limit_hit`."""
        frame = None if self.limit is None else self.records.frames.get(self.limit.compile_id)
        return frame is not None and frame.outcome == "raised"

    @property
    def name(self) -> str | None:
        """The function's name."""
        return next((compile_.name for compile_ in self.compiles if compile_.name), None)

    @property
    def shown_name(self) -> str:
        """The name to show: `GPT2Model.forward` for a method of a module, also behind a wrapper, if known.

        torch's own modules that are each compiled by themselves share a wrapper, which has all their names.
        """
        methods = [*dict.fromkeys(self.records.methods.of_frame(self._any_id).values())]
        rest = len(methods) - _NAMED
        named = ", ".join(methods if rest < 2 else methods[:_NAMED])
        return named + (f" and {rest} others" if rest > 1 else "") or frame_name(self.name)

    @property
    def compile_calls(self) -> set[StackFrame]:
        """The calls of torch.compile that made the frame's versions, as far as they are known."""
        return {*self.records.compiled_by.of_frame(self._any_id).values()}

    @property
    def place(self) -> Place | None:
        """Where the function begins."""
        return next((compile_.place for compile_ in self.compiles if compile_.place), None)

    @property
    def seconds(self) -> float:
        """The compile time of all its recompiles."""
        return self.records.seconds_of(self.compiles)

    @cached_property
    def symbols(self) -> list[Symbol]:
        """What its recompiles made dynamic, in order."""
        compile_ids = dict.fromkeys(compile_.compile_id for compile_ in self.compiles)
        return [symbol for compile_id in compile_ids for symbol in self.records.symbols.get(compile_id, ())]

    @property
    def specializations(self) -> list[Specialization]:
        """What any of its compiles made dynamic and then had to specialize."""
        return [*chain(*self.records.specializations.of_frame(self._any_id).values())]

    @property
    def checks(self) -> Mapping[CompileId | None, list[GuardCheck]]:
        """The checks of its cache entries, as far as recompiles depend on them."""
        return self.records.checks.of_frame(self._any_id)

    @cached_property
    def varying_parameters(self) -> dict[tuple[str, int], dict[CompileId | None, str]]:
        """By source and index, the sizes of parameters that differ between cache entries, in each entry."""
        return sizes_of_parameters(self.checks)

    @property
    def size_checks(self) -> list[GuardCheck]:
        """The checks of its cache entries on dynamic sizes."""
        return [check for check in chain(*self.checks.values()) if ".size()[" in check.code]

    @property
    def failures_after_freeze(self) -> list[GuardFailure]:
        """The failed guards in calls that `--freeze-after` left to eager."""
        left = self.records.not_compiled.get((self.name, self.place), ())
        return [failure for not_compiled in left for failure in not_compiled.failures]

    def is_marked_static(self, failure: GuardFailure) -> bool:
        """Whether the program marked the dimension by `mark_static`, by the guards of the failed entry.

        Source: torch/_dynamo/guards.py (Dimension Marking Guards), read and run with 2.13.
        """
        return any(
            plain_source(check.source) == failure.source and failure.dimension in static_marks(check.code)
            for check in self.records.checks.get(failure.entry, ())
        )

    @property
    def versions_called(self) -> list[int] | None:
        """How often each compiled version was called; None where that was not recorded for all of them."""
        graphs = self.records.compiled_graphs.of_frame(self._any_id).values()
        calls = [graph.times.calls for graph in chain(*graphs) if graph.times is not None]
        return calls if calls and len(calls) == sum(map(len, graphs)) else None

    @property
    def _any_id(self) -> CompileId | None:
        return self.compiles[0].compile_id

    def failures(self, compile_: Compile) -> tuple[GuardFailure, ...]:
        """Why each cache entry could not be used, the newest entry first; empty where it was not recorded."""
        return self.records.failures.get(compile_.compile_id, ())

    @cached_property
    def walks(self) -> tuple[str, ...]:
        """The walks through arguments that failed guards show, `tree.left.left`, each once."""
        sources = (each.source for each in chain.from_iterable(map(self.failures, self.compiles)))
        return tuple(dict.fromkeys(filter(None, map(walk_in, sources))))

    def nearest(self, compile_: Compile) -> GuardFailure | None:
        """The failed guard of the cache entry nearest to the call; of several the newest entry's.

        An older entry does not count if it failed on what a newer one has made dynamic. Nearer is one whose
        checks on what others failed on had passed before; nearest one for the same sizes in another mode.
        """
        failures = self.failures(compile_)
        still_fixed = [each for each in failures if not self._became_dynamic_since(each, compile_)]
        near = still_fixed or failures
        sources = {each.source for each in near if each.source is not None}
        checks = self.records.checks
        now = checks.get(compile_.compile_id, ())
        in_another_mode = [each for each in near if differs_in_mode(each, checks.get(each.entry, ()), now)]
        distances = (
            ((distance_of(each), -self._passed_before(each, sources)), each)
            for each in in_another_mode or near
        )
        return min(distances, key=itemgetter(0), default=(None, None))[1]

    def _passed_before(self, failure: GuardFailure, sources: set[str]) -> int:
        """How many of the sources an entry had checked before the check that failed."""
        if len(sources) < 2:
            return 0
        checked = [plain_source(check.source) for check in self.records.checks.get(failure.entry, ())]
        if failure.source not in checked:
            return 0
        return len((sources - {failure.source}).intersection(checked[: checked.index(failure.source)]))

    def _became_dynamic_since(self, failure: GuardFailure, compile_: Compile) -> bool:
        """Whether torch made the guarded value dynamic after the failed entry and before this compile."""
        entry, now = failure.entry, compile_.compile_id
        is_dynamic = failure.kind in CHECKED_LAST  # already: a fixed size has no range
        if failure.source is None or entry is None or now is None or is_dynamic:
            return False
        if self.failures(compile_)[0].source == failure.source:
            return False  # the newest failed on it too: dynamic as a float, say, and then given an int
        name = (
            failure.source if failure.dimension is None else f"{failure.source}.size()[{failure.dimension}]"
        )
        made_dynamic, first = self._made_dynamic.get(name, ()), entry.compile or 0
        return first not in made_dynamic and any(first < each < (now.compile or 0) for each in made_dynamic)

    @cached_property
    def _made_dynamic(self) -> dict[str, list[int]]:
        """The numbers of the recompiles that made a source dynamic, by its plain name."""
        found: dict[str, list[int]] = {}
        for symbol in self.symbols:
            if symbol.compile_id is not None:
                found.setdefault(plain_source(symbol.source), []).append(symbol.compile_id.compile or 0)
        return found

    def calls(self, compile_: Compile) -> int | None:
        """How often the version that this compile made was called; None where that was not counted."""
        return self.records.times_called.get(compile_.compile_id)

    def call(self, compile_: Compile) -> StackFrame | None:
        """The user call site that led to the recompile."""
        return self.records.callers.get(compile_.compile_id)

    def line_of(self, failure: GuardFailure) -> StackFrame | None:
        """The line of a failed guard, from torch or from the entry's guard on the same source."""
        place, text = failure.place, failure.user_code
        if place is None:
            check = self._check_on(failure)
            if check is None or check.place is None:
                return None
            place, text = check.place, check.user_code
        return self.whole_line(text or "", place)

    def whole_line(self, text: str, place: Place) -> StackFrame:
        """A line of this frame, with the whole path of its file where torch has cut that short."""
        file = self.records.whole_files.get(place.file) or place.file
        return StackFrame(place._replace(file=file), self.name or "", text.strip())

    def _check_on(self, failure: GuardFailure) -> GuardCheck | None:
        checks = [check for check in self.records.checks.get(failure.entry, ()) if check.place is not None]
        same = (check for check in checks if plain_source(check.source) == failure.source)
        inside = (check for check in checks if plain_source(check.source).startswith(f"{failure.source}["))
        return next(same, None) or next(inside, None)

    def check_excluding(self, version: CompileId | None, failure: GuardFailure) -> GuardCheck | None:
        """The check of a version on a dynamic size that the size which failed before does not pass.

        Sizes of 0 and 1 fail each such check.
        """
        value = failure.expected or ""
        expected = int(value) if value.isdecimal() else 0
        size = (failure.source, failure.dimension)
        for check in self.records.checks.get(version, ()) if expected > 1 else ():
            code = plain_source(split_comment(check.code)[0]).strip()
            if size in sizes_in(code) and is_in_range(code, expected) is False:
                return check
        return None

    def eager_caller(self, compiles: Iterable[Compile]) -> Frame | None:
        """The caller of these compiles that runs eager, so that the frame is compiled by itself."""
        records = self.records
        calls = [call for each in compiles for call in records.callers_in_order.get(each.compile_id, ())]
        for _, call in sorted(calls, key=itemgetter(0)):
            fallbacks = records.fallbacks.get((call.place.file, call.function), ())
            if (around := frame_around(call.place, fallbacks)) is not None:
                return around
        return None

    def place_of(self, failure: GuardFailure) -> Place | None:
        """The place of the line of a failed guard."""
        line = self.line_of(failure)
        return None if line is None else line.place

    def full_source(self, failure: GuardFailure) -> str | None:
        """The source of a failed guard as torch's settings spell it: `L['x']` for `x`."""
        if failure.source is None:
            return None
        spelled = self.records.spelled_sources.get(failure.source)
        symbols = (each.source for each in self.symbols if plain_source(each.source) == failure.source)
        return spelled or next(symbols, None) or spelled_in_full(failure.source)

    def expected(self, compile_: Compile, failure: GuardFailure) -> str | None:
        """The value that the entry which failed was compiled for, from torch or from that entry's guards."""
        if failure.kind == "global state" and failure.expected is None:
            return self._settings(compile_, failure)[0]
        return compiled_for(failure)

    def _settings(self, compile_: Compile, failure: GuardFailure) -> tuple[str | None, str | None]:
        """The settings of torch that differed, before and now; both None where they would read alike."""
        sets = (self.records.checks.get(each, ()) for each in (failure.entry, compile_.compile_id))
        codes = (
            next((c.code for c in checks if c.code.startswith(GLOBAL_STATE_CHECK)), "") for checks in sets
        )
        before, now = (changed_settings(failure.check, global_state(code)) for code in codes)
        return (before, now) if before != now else (None, None)

    def actual(self, compile_: Compile, failure: GuardFailure) -> str | None:
        """The value that the guard rejected, from torch or from the guards of the entry compiled for it."""
        if failure.kind == "global state" and failure.actual is None:
            return self._settings(compile_, failure)[1]
        if failure.actual is not None:
            return failure.actual
        sources = failure.source, f"{failure.source}.size()[{failure.dimension}]"
        for symbol in self.records.symbols.get(compile_.compile_id, ()):
            if plain_source(symbol.source) in sources:
                return symbol.hint
        if failure.kind not in ("value", "length", "type"):
            return None
        checks = self.records.checks.get(compile_.compile_id, ())
        same = [check for check in checks if plain_source(check.source) == failure.source]
        return next((value for check in same if (value := _accepted_value(check, failure.kind))), None)


def frames_recompiled(processes: Iterable[Process]) -> list[FrameRecompiles]:
    """The frames that were recompiled, in the order of their first recompiles."""
    found = []
    for process in processes:
        by_frame: dict[object, list[Compile]] = {}
        for compile_ in process.recompiles:
            by_frame.setdefault(frame_of(compile_.compile_id), []).append(compile_)
        records = CompileRecords(process)
        for compiles in by_frame.values():
            limit = next((c for c in compiles if is_recompile_limit(c.fail_reason)), None)
            found.append(FrameRecompiles(process, tuple(compiles), limit, records))
    return found


def is_recompile_limit(reason: str | None) -> bool:
    """Whether torch refused to recompile a frame, so that it runs eager from then on."""
    return bool(reason and _LIMIT.search(reason))


_FIRST_NAME = re.compile(r"[A-Za-z_]\w*")


def spelled_in_full(source: str) -> str:
    """The source as guards spell it, `L['x'].y` for `x.y` of guard failures; a global stays as it is."""
    first = _FIRST_NAME.match(source)
    if first is None or source.startswith(("G[", "L[")):
        return source
    return f"L['{first[0]}']{source[first.end() :]}"


def _accepted_value(check: GuardCheck, kind: str) -> str | None:
    """The value or length that a check accepts, or else the type; None where the check has neither."""
    code = split_comment(check.code)[0]
    if kind == "length":
        _, is_length, length = code.rpartition(" == ")
        return length if is_length and code.startswith("len(") else None
    if kind == "type":
        return "a tensor" if check.type == "TENSOR_MATCH" else _type_of(code)
    if code.startswith(f"{check.source} == "):
        return code.removeprefix(f"{check.source} == ")
    if check.type == "TENSOR_MATCH":
        return "a tensor"
    named = _type_of(code)
    if named is None or check.type not in ("TYPE_MATCH", "ID_MATCH"):
        return None
    return "None" if named == "NoneType" else f"of type {named}"


def _type_of(code: str) -> str | None:
    """`list`: the type that a check on it requires; None for other checks."""
    named = _TYPE.search(code)
    return None if named is None else named[1].removeprefix("builtins.")


# The moment of a recompile: the time since the start, the call of the frame, and the thread.


@dataclass(frozen=True)
class Moment:
    """When a compile began, as far as that was recorded."""

    seconds: Annotated[float | None, "from when the program began"]
    call: Annotated[int | None, "of the frame's compiled versions, from 1; null where not all were noted"]
    thread: Annotated[str | None, "its name; null for the main one, or where it was not recorded"]


def moment_of(compile_id: CompileId | None, records: CompileRecords, recording: Recording) -> Moment:
    """The moment at which a compile began, as far as that was recorded."""
    frame = records.frames.get(compile_id)
    began_ns = None if frame is None else _began_ns(frame)
    if frame is None or began_ns is None:
        return Moment(None, None, None)
    since_begin = seconds_since_begin(began_ns, records.process.entire, recording)
    return Moment(since_begin, _call_number(compile_id, records, began_ns), frame.thread)


def seconds_since_begin(at_ns: int | None, process: Process, recording: Recording) -> float | None:
    """The seconds from the start of the program to a moment; None where either is not known."""
    origin_ns = recording.run.started_ns if recording.run is not None else process.info.began_ns
    return None if origin_ns is None or at_ns is None else max(0.0, (at_ns - origin_ns) / 1e9)


def _began_ns(frame: Frame) -> int | None:
    if frame.ended_ns is None or frame.seconds is None:
        return None
    return frame.ended_ns - round(frame.seconds * 1e9)


def _call_number(compile_id: CompileId | None, records: CompileRecords, began_ns: int) -> int | None:
    """The number of the call that had to compile; None where the calls before it were not all recorded."""
    if compile_id is None:
        return None
    calls = records.calls_of_frame(compile_id)
    if calls is None:
        return None
    least, most = calls.at(began_ns)
    return least + 1 if least == most else None


def how_often_eager(frame: FrameRecompiles) -> str:
    """`24 times`, `at most 24 times, as the graph before it ran 32 times`, or that it was not recorded."""
    counted = _counted_at_limit(frame)
    if counted is not None:
        return counted
    versions, entered = frame.versions_called, times_entered(frame)
    if versions is None or entered is None or entered < sum(versions):
        return "how often was not recorded"
    eager = number(entered - sum(versions), "time")
    return f"at most {eager}, as the graph before it ran {number(entered, 'time')}"


def _counted_at_limit(frame: FrameRecompiles) -> str | None:
    """The counted eager calls; None where none were counted, or torch refused another frame as well."""
    process, limit = frame.process.entire, frame.limit
    counted = process.interventions.calls_at_limit
    if counted is None or limit is None or limit.compile_id is None:
        return None
    refused = {frame_of(each.compile_id) for each in process.compiles if is_recompile_limit(each.fail_reason)}
    has_others = {frame_of(each.compile_id) for each in process.compiles} != refused
    # A thread looks up, and then waits for the compile of another; its call is not counted.
    has_threads = len({each.thread for each in process.frames}) > 1
    if refused != {frame_of(limit.compile_id)} or (has_others and has_threads):
        return None
    bound = "at most " if has_others else "at least " if has_threads else ""
    return f"{bound}{number(counted, 'time')}"


def times_entered(frame: FrameRecompiles) -> int | None:
    """How often, at most, the resume function behind a break was called; None where that is not known.

    It is known where the graphs before the break lead only there (behind a branch there are two resume
    functions) and each compiled version has one graph whose calls are counted.
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
    calls = [_calls_reaching_break(records.compiled_graphs.get(each, ()), each) for each in makers]
    known = [each for each in calls if each is not None]
    return sum(known) if calls and len(known) == len(calls) else None


def _calls_reaching_break(graphs: "list[Graph] | tuple[()]", compile_id: CompileId | None) -> int | None:
    """The calls of the one graph before the break; None where some of them did not reach the break."""
    if compile_id is None or len(graphs) != 1:
        return None
    (graph,) = graphs
    return None if graph.times is None or graph.times.raised else graph.calls


def functions_with_one_code(
    frame: FrameRecompiles, met: Sequence[tuple[Compile, GuardFailure | None]]
) -> int | None:
    """How many calls of torch.compile made the functions that share the code of a frame, at least.

    A decorator makes such functions, and classes inherit such methods. torch keeps compiled versions with the
    code object, so that those of all of them count together.

    None where one of these recompiles is of the same call as the cache entry that was nearest, or where that
    was not recorded.
    """
    frames = frame.records.frames
    calls: set[int] = set()
    for compile_, failure in met:
        ids = compile_.compile_id, None if failure is None else failure.entry
        pair = [None if (found := frames.get(each)) is None else found.compile_call for each in ids]
        known = {call for call in pair if call is not None}
        if len(known) < 2:
            return None
        calls |= known
    on_lines = [found.calls_of_line or 0 for compile_, _ in met if (found := frames.get(compile_.compile_id))]
    return max(len(calls), *on_lines) if calls else None
