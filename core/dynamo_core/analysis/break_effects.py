"""The effect of each distinct graph break: how often it is met and crossed, and its graphs on both sides."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from ..model import (
    Compile,
    CompileId,
    Frame,
    Graph,
    GraphBreak,
    Process,
    Recording,
    ResumeFunction,
    StackFrame,
)
from ..shared.quick_dataclass import dataclass
from .recompiles import is_recompile_limit
from .source_lines import is_library
from .summary import break_identity, fell_back
from .words import first_line

# Breaks in a row with no graph in between: each is followed from each, so that many would take long.
_MOST_IN_A_ROW = 20


class Fallback(NamedTuple):
    """A frame that Dynamo did not compile, and what stopped it, as a break at a line of the user's."""

    process: Process
    frame: Frame
    stopped: GraphBreak


def what_stopped(frame: Frame) -> GraphBreak:
    """The break that kept a frame from being compiled; where none was recorded, its first line and reason."""
    reason = frame.reason or "no reason recorded"
    where = frame.stopped or frame.broke
    callers = () if frame.called_from is None else (frame.called_from,)
    if where is not None and where.stack:
        explanation = frame.explanation if where.explanation is None else where.explanation
        return replace(where, reason=reason, explanation=explanation)
    if frame.explanation is None:
        own = StackFrame(frame.place, frame.name, "")
        return GraphBreak(reason, (own,), frame.compile_id, callers=callers)
    stack = frame.explanation.stack or (StackFrame(frame.explanation.place, frame.name, ""),)
    entered = [i for i, each in enumerate(stack) if each.function == frame.name]
    within = stack[entered[-1] :] if entered else stack
    return GraphBreak(reason, within, frame.compile_id, frame.explanation, callers)


def what_stopped_compile(process: Process, compile_: Compile) -> GraphBreak:
    """The break that ended a compile of a plain trace, which has no frames; else the line torch names."""
    reason = f"{compile_.fail_type}: {first_line(compile_.fail_reason)}"
    of_it = (each for each in reversed(process.breaks) if each.compile_id == compile_.compile_id)
    where = compile_.failed_at or compile_.place
    stack = () if where is None else (StackFrame(where, compile_.name or "", ""),)
    return next(of_it, GraphBreak(reason, stack, compile_.compile_id))


@dataclass(frozen=True)
class Crossing:
    """One compiled break: the graphs on its two sides, and those whose calls count how often it was crossed.

    `counted_by` is the graph that ends at the break or, where there is none, the graphs that begin behind it;
    None where neither can be used to count. `depth` is 0 where the compiled frame itself broke, more where a
    function that it had inlined broke: that function is then called as a frame of its own, and breaks again.

    Where breaks follow one another with no graph in between, `ahead` and `behind` are the compiles that ended
    in a break before and after this one; `further_before` and `further_after` are the graphs beyond those.
    `resumed` are all compiles of the code behind the break.
    """

    process: Process
    compile_id: CompileId | None
    before: tuple[Graph, ...]
    after: tuple[Graph, ...]
    counted_by: tuple[Graph, ...] | None
    depth: int
    further_before: tuple[Graph, ...] = ()
    further_after: tuple[Graph, ...] = ()
    ahead: tuple[CompileId | None, ...] = ()
    behind: tuple[CompileId | None, ...] = ()
    resumed: tuple[CompileId | None, ...] = ()

    @property
    def is_counted_in_front(self) -> bool:
        """Whether the graph that ends at the break counts it."""
        return self.counted_by is not None and self.counted_by[:1] == self.before[:1]


@dataclass(frozen=True)
class DistinctBreak:
    """A break and all its occurrences in `processes`; `first`, of the first process, represents them all.

    The `frames_fell_back` run eager because of the break: frames that it ended, and frames that fell back for
    the same reason at the same line although torch did not call that a break.
    """

    processes: tuple[Process, ...]
    first: GraphBreak
    occurrences: tuple[GraphBreak, ...]
    crossings: tuple[Crossing, ...]
    frames_fell_back: tuple[Frame, ...]

    @property
    def process(self) -> Process:
        """The process in which `first` was met."""
        return self.processes[0]

    @property
    def met(self) -> int:
        """How often Dynamo met the break while it compiled."""
        return len(self.occurrences)

    @cached_property
    def least_depth(self) -> int:
        """The smallest depth of a crossing: 0 where the function was compiled as a frame of its own."""
        return min((crossing.depth for crossing in self.crossings), default=0)

    @property
    def crossed(self) -> int | None:
        """How often the break was crossed at run time; None where that was not counted everywhere."""
        return None if self.crossed_in is None else sum(crossed for _, crossed in self.crossed_in)

    @cached_property
    def crossed_in(self) -> list[tuple[Process, int]] | None:
        """How often the break was crossed in each process; None where that was not counted everywhere.

        Where the function that broke was compiled as a frame, the frames that had inlined it do not count.
        """
        crossings = [each for each in self.crossings if each.depth <= self.least_depth]
        if any(each.counted_by is None for each in crossings):
            return None
        # Entries of one frame share their resume functions: the graphs behind a break count for all of them
        # where one has no graph of its own in front, and once.
        by_what_follows: dict[tuple[object, ...], list[Crossing]] = {}
        for each in crossings:
            follows = each.after[0].number if each.after else each.compile_id
            by_what_follows.setdefault((each.process.stream, follows), []).append(each)
        calls: dict[tuple[object, ...], tuple[Process, int | None]] = {}
        for together in by_what_follows.values():
            behind = next((each for each in together if not each.is_counted_in_front), None)
            for each in together if behind is None else [behind]:
                for graph in each.counted_by or ():
                    calls[each.process.stream, behind is None, graph.number] = each.process, graph.calls
        known = [(process, count) for process, count in calls.values() if count is not None]
        return known if calls and len(known) == len(calls) else None

    @cached_property
    def as_it_stopped(self) -> GraphBreak:
        """The first one; where frames run eager for it, as of the first of them.

        Where that had inlined the function of the line, this is compiled by itself only for that.
        """
        if not self.frames_fell_back:
            return self.first
        frame = self.frames_fell_back[0]
        method = self.first.method if frame.method is None else frame.method
        own, stack = self.first.stack, what_stopped(frame).stack
        is_inlined = len(stack) > len(own) > 0 and stack[-1].place == own[-1].place
        return replace(self.first, method=method, is_inlined=is_inlined)

    @property
    def inlined_by(self) -> int:
        """The number of compiles that had inlined the function that broke, and so broke too."""
        return sum(crossing.depth > 0 for crossing in self.crossings)

    @property
    def user_call(self) -> StackFrame | None:
        """The innermost line of the user's code, where the break itself is inside a library; else None."""
        if self.first.place is None or not is_library(self.first.place):
            return None
        stack = [*self.first.callers, *self.first.stack]
        return next((frame for frame in reversed(stack) if not is_library(frame.place)), None)


def distinct_breaks(recording: Recording) -> list[DistinctBreak]:
    """Each distinct break once, worst first: whether frames run eager, then times crossed, then times met."""
    met: dict[object, list[tuple[_ProcessRecords, GraphBreak]]] = {}
    for process in recording.processes:
        records = _ProcessRecords(process)
        for graph_break in process.breaks:
            met.setdefault(break_identity(graph_break), []).append((records, graph_break))
    unbroken = _fallbacks_without_break(recording)
    found = [_distinct(occurrences, unbroken.get(identity, [])) for identity, occurrences in met.items()]
    return sorted(found, key=lambda each: (not each.frames_fell_back, -(each.crossed or 0), -each.met))


_EagerFrames = list[tuple[Process, Frame]]


def _fallbacks_without_break(recording: Recording) -> dict[object, _EagerFrames]:
    """Frames that run eager and have no recorded break, by the identity of what stopped them."""
    found: dict[object, _EagerFrames] = {}
    for process in recording.processes:
        broken = {graph_break.compile_id for graph_break in process.breaks} - {None}
        for frame in filter(fell_back, process.frames):
            if frame.compile_id not in broken and not is_recompile_limit(frame.reason):
                identity = break_identity(what_stopped(frame))
                found.setdefault(identity, []).append((process.entire, frame))
    return found


class _ProcessRecords:
    """What a process recorded, indexed by compile, so that nothing is searched for once per break."""

    def __init__(self, process: Process) -> None:
        self.process = process.entire
        self.fell_back: dict[CompileId | None, list[Frame]] = {}
        for frame in filter(fell_back, process.frames):
            if frame.compile_id is not None:
                self.fell_back.setdefault(frame.compile_id, []).append(frame)
        self._graphs: dict[CompileId | None, list[tuple[int, Graph]]] = {}
        for position, graph in enumerate(self.process.compiled_graphs):
            if graph.compile_id is not None:
                self._graphs.setdefault(graph.compile_id, []).append((position, graph))
        # Resume functions by the compile that made them; those compiles by the function's fingerprint.
        self._made: dict[CompileId | None, list[ResumeFunction]] = {}
        self._makers: dict[str, list[CompileId | None]] = {}
        for function in self.process.resume_functions:
            self._made.setdefault(function.made_by, []).append(function)
            self._makers.setdefault(function.fingerprint, []).append(function.made_by)
        self._compiled: dict[str, list[CompileId | None]] = {}
        self._fingerprints: dict[CompileId | None, list[str]] = {}
        for code in self.process.bytecodes:
            self._compiled.setdefault(code.fingerprint, []).append(code.compile_id)
            self._fingerprints.setdefault(code.compile_id, []).append(code.fingerprint)
        self._uncompiled = {frame.name for frame in self.process.frames if frame.outcome != "compiled"}
        self._sides: dict[CompileId | None, _Sides] = {}
        # All compiles of one code have the same resume functions and resume the same breaks: found once.
        self._resuming: dict[_Fingerprints, _Resuming] = {}
        self._ahead: dict[_Fingerprints, tuple[tuple[CompileId | None, ...], tuple[Graph, ...]]] = {}
        self._counted: dict[CompileId | None, tuple[Graph, ...]] = {}

    def crossing(self, compile_id: CompileId | None, depth: int) -> Crossing:
        """The crossing of the break that ended this compile."""
        before, after, _ = self._graphs_beside(compile_id)
        counted_by = self._counted_by(compile_id) or None
        resuming = self._what_resumes(compile_id)
        ahead, further_before = ((), ()) if before else self._breaks_ahead(compile_id)
        return Crossing(
            self.process,
            compile_id,
            before,
            after,
            counted_by,
            max(depth, 0),
            further_before,
            resuming.further_after,
            ahead,
            resuming.further_breaks,
            resuming.compiles,
        )

    def _what_resumes(self, compile_id: CompileId | None) -> "_Resuming":
        """What runs behind the break of this compile."""
        fingerprints = tuple(dict.fromkeys(made.fingerprint for made in self._made.get(compile_id, ())))
        if fingerprints not in self._resuming:
            compiles = tuple(self._resumed_by(compile_id))
            behind = self._without_graph(compiles, self._resumed_by)
            self._resuming[fingerprints] = _Resuming(
                compiles,
                self._graphs_of(compiles),
                self._graphs_of(at for each in behind for at in self._resumed_by(each)),
                tuple(at for at in behind if at in self._made),
            )
        return self._resuming[fingerprints]

    def _breaks_ahead(
        self, compile_id: CompileId | None
    ) -> tuple[tuple[CompileId | None, ...], tuple[Graph, ...]]:
        """The compiles whose breaks are met before this one's with no graph in between, and their graphs."""
        fingerprints = tuple(dict.fromkeys(self._fingerprints.get(compile_id, ())))
        if fingerprints not in self._ahead:
            without = [compile_id, *self._without_graph(self._made_by(compile_id), self._made_by)]
            ahead = tuple(dict.fromkeys(at for each in without for at in self._made_by(each)))
            self._ahead[fingerprints] = ahead, self._graphs_of(ahead)
        return self._ahead[fingerprints]

    def _resumed_by(self, compile_id: CompileId | None) -> Iterator[CompileId | None]:
        """The compiles of the code that is resumed behind this compile's break."""
        for fingerprint in {function.fingerprint: None for function in self._made.get(compile_id, ())}:
            yield from self._compiled.get(fingerprint, ())

    def _made_by(self, compile_id: CompileId | None) -> Iterator[CompileId | None]:
        """The compiles behind whose breaks the code of this compile is resumed."""
        for fingerprint in dict.fromkeys(self._fingerprints.get(compile_id, ())):
            yield from self._makers.get(fingerprint, ())

    def _without_graph(
        self,
        first: Iterable[CompileId | None],
        next_to: Callable[[CompileId | None], Iterable[CompileId | None]],
    ) -> list[CompileId | None]:
        """The compiles without a graph that are reached from `first` through `next_to`; [] if too many are.

        A compile that has a graph ends the way there.
        """
        found: dict[CompileId | None, None] = {}
        pending = [*first]
        while pending:
            compile_id = pending.pop()
            if compile_id not in found and compile_id not in self._graphs:
                if len(found) == _MOST_IN_A_ROW:
                    return []
                found[compile_id] = None
                pending += next_to(compile_id)
        return list(found)

    def _counted_by(self, compile_id: CompileId | None) -> tuple[Graph, ...]:
        """The graphs whose calls count how often this compile's break was crossed; () where nothing does.

        Where only one frame can follow another, the breaks of both are crossed equally often, so that what
        counts the earlier one counts the later one too.
        """
        visited: list[CompileId | None] = []
        counted_by: tuple[Graph, ...] = ()
        maker: tuple[CompileId | None] | None = (compile_id,)
        while maker is not None and not counted_by:
            if maker[0] in self._counted:
                counted_by = self._counted[maker[0]]
                break
            self._counted[maker[0]] = ()  # ends a cycle of makers
            visited += maker
            counted_by = self._graphs_beside(maker[0])[2]
            maker = self._only_maker(maker[0])
        self._counted |= dict.fromkeys(visited, counted_by)
        return counted_by

    def _graphs_beside(self, compile_id: CompileId | None) -> "_Sides":
        """The graphs before and after the break, and those of them that count how often it was crossed."""
        if compile_id not in self._sides:
            made = self._made.get(compile_id, [])
            resuming = self._what_resumes(compile_id)
            before, after = self._graphs_of([compile_id]), resuming.after
            all_compiled = not any(function.code_name in self._uncompiled for function in made)
            is_counted_after = all_compiled and len(after) == len(resuming.compiles)
            self._sides[compile_id] = before, after, before or (after if is_counted_after else ())
        return self._sides[compile_id]

    def _graphs_of(self, compile_ids: Iterable[CompileId | None]) -> tuple[Graph, ...]:
        found = [each for compile_id in {*compile_ids} for each in self._graphs.get(compile_id, ())]
        if not found:
            return ()  # one and the same; of a generator, Python 3.10 makes a new one
        return tuple(graph for _, graph in sorted(found, key=lambda each: each[0]))

    def _only_maker(self, compile_id: CompileId | None) -> tuple[CompileId | None] | None:
        """The compile whose break this one resumes, if it resumes no other, and nothing else resumes that."""
        own = self._fingerprints.get(compile_id, [])
        if len(own) != 1 or len(self._compiled[own[0]]) != 1:
            return None
        makers = self._makers.get(own[0], [])
        return (makers[0],) if len(makers) == 1 and len(self._made[makers[0]]) == 1 else None


_Fingerprints = tuple[str, ...]


class _Resuming(NamedTuple):
    """What runs behind a break: the compiles, their graphs, and what is behind those without a graph."""

    compiles: tuple[CompileId | None, ...]
    after: tuple[Graph, ...]
    further_after: tuple[Graph, ...]
    further_breaks: tuple[CompileId | None, ...]


_Sides = tuple[tuple[Graph, ...], tuple[Graph, ...], tuple[Graph, ...]]


def _distinct(occurrences: list[tuple[_ProcessRecords, GraphBreak]], unbroken: _EagerFrames) -> DistinctBreak:
    crossings: list[Crossing] = []
    frames: list[Frame] = []
    for records, graph_break in occurrences:
        failed_to_compile = records.fell_back.get(graph_break.compile_id, [])
        frames += failed_to_compile
        if not failed_to_compile:
            crossings.append(records.crossing(graph_break.compile_id, len(graph_break.stack) - 1))
    met_in = [*(records.process for records, _ in occurrences), *(process for process, _ in unbroken)]
    return DistinctBreak(
        tuple({process.stream: process for process in met_in}.values()),
        occurrences[0][1],
        tuple(graph_break for _, graph_break in occurrences),
        tuple(crossings),
        (*frames, *(frame for _, frame in unbroken)),
    )
