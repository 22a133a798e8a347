"""What each distinct graph break does to the run: how often it is met and crossed, and what it parts."""

from collections.abc import Iterable
from dataclasses import dataclass

from dynamo_core.model import CompileId, Frame, Graph, GraphBreak, Place, Process, Recording, StackFrame
from dynamo_core.summary import break_identity, fell_back

_LIBRARY = ("/site-packages/", "/dist-packages/", "/lib/python3", "<frozen ", "<string>")


@dataclass(frozen=True)
class Crossing:
    """One compiled break: the graphs that it parts, and those whose calls count how often it was crossed.

    `counted_by` is the graph that ends at the break or, where none does, those that begin behind it; None
    where neither tells. `depth` is 0 where the compiled frame itself broke, more where a function broke that
    it had inlined: the function is then called as a frame of its own, and breaks once more.
    """

    process: Process
    compile_id: CompileId | None
    before: tuple[Graph, ...]
    after: tuple[Graph, ...]
    counted_by: tuple[Graph, ...] | None
    depth: int


@dataclass(frozen=True)
class DistinctBreak:
    """A break, however often it was met. `first` stands for all of its occurrences."""

    first: GraphBreak
    occurrences: tuple[GraphBreak, ...]
    crossings: tuple[Crossing, ...]
    frames_fell_back: tuple[Frame, ...]

    @property
    def met(self) -> int:
        """How often Dynamo met it while it compiled."""
        return len(self.occurrences)

    @property
    def crossed(self) -> int | None:
        """How often its line was crossed at run time; None where that was not counted everywhere.

        Where the function that broke was compiled as a frame, the frames that had inlined it do not count.
        """
        shallowest = min((crossing.depth for crossing in self.crossings), default=0)
        calls: dict[tuple[object, ...], int | None] = {}
        for crossing in self.crossings:
            if crossing.depth > shallowest:
                continue
            if crossing.counted_by is None:
                return None
            # Entries of one frame share their resume functions: each graph behind a break counts once.
            side = "before" if crossing.counted_by == crossing.before else "after"
            for graph in crossing.counted_by:
                calls[crossing.process.stream, side, graph.number] = graph.calls
        known = [count for count in calls.values() if count is not None]
        return sum(known) if calls and len(known) == len(calls) else None

    @property
    def inlined_by(self) -> int:
        """In how many compiles the function that broke had been inlined, so that those broke too."""
        return sum(crossing.depth > 0 for crossing in self.crossings)

    @property
    def user_call(self) -> StackFrame | None:
        """The innermost line of the user's own, where the break itself is inside a library."""
        if self.first.place is None or not is_library(self.first.place):
            return None
        stack = [*self.first.callers, *self.first.stack]
        return next((frame for frame in reversed(stack) if not is_library(frame.place)), None)


def distinct_breaks(recording: Recording) -> list[DistinctBreak]:
    """Each distinct break once, the worst first: frames that run eager, then by crossings, then as met."""
    met: dict[object, list[tuple[Process, GraphBreak]]] = {}
    for process in recording.processes:
        for graph_break in process.breaks:
            met.setdefault(break_identity(graph_break), []).append((process, graph_break))
    found = [_distinct(occurrences) for occurrences in met.values()]
    return sorted(found, key=lambda each: (not each.frames_fell_back, -(each.crossed or 0), -each.met))


def is_library(place: Place) -> bool:
    """Whether a place is in an installed package or the standard library, as far as its path tells."""
    return any(part in place.file for part in _LIBRARY)


def _distinct(occurrences: list[tuple[Process, GraphBreak]]) -> DistinctBreak:
    crossings, frames = [], []
    for process, graph_break in occurrences:
        gave_up = [
            frame
            for frame in process.frames
            if fell_back(frame)
            and frame.compile_id is not None
            and frame.compile_id == graph_break.compile_id
        ]
        frames += gave_up
        if not gave_up:
            crossings.append(_crossing(process.entire, graph_break.compile_id, len(graph_break.stack) - 1))
    first = occurrences[0][1]
    return DistinctBreak(first, tuple(b for _, b in occurrences), tuple(crossings), tuple(frames))


def _crossing(process: Process, compile_id: CompileId | None, depth: int) -> Crossing:
    before = _graphs_of(process, [compile_id])
    resumed, all_compiled = _resumed(process, compile_id)
    after = _graphs_of(process, resumed)
    counted_by = before or (after if all_compiled and len(after) == len(resumed) else ())
    return Crossing(
        process, compile_id, before, after, counted_by or _counted_before(process, compile_id), max(depth, 0)
    )


def _counted_before(process: Process, compile_id: CompileId | None) -> tuple[Graph, ...] | None:
    """What counts the break before this one, if nothing but this frame can follow it: then both are crossed
    equally often.
    """
    own = [code.fingerprint for code in process.bytecodes if code.compile_id == compile_id]
    if len(own) != 1 or sum(code.fingerprint == own[0] for code in process.bytecodes) != 1:
        return None
    makers = [function.made_by for function in process.resume_functions if function.fingerprint == own[0]]
    if len(makers) != 1:
        return None
    siblings = [function for function in process.resume_functions if function.made_by == makers[0]]
    return _crossing(process, makers[0], 0).counted_by if len(siblings) == 1 else None


def _graphs_of(process: Process, compile_ids: Iterable[CompileId | None]) -> tuple[Graph, ...]:
    wanted = {compile_id for compile_id in compile_ids if compile_id is not None}
    return tuple(graph for graph in process.compiled_graphs if graph.compile_id in wanted)


def _resumed(process: Process, compile_id: CompileId | None) -> tuple[list[CompileId | None], bool]:
    """The compiles of the resume functions that this compile made, and whether none was left uncompiled."""
    made = [function for function in process.resume_functions if function.made_by == compile_id]
    names, fingerprints = {each.code_name for each in made}, {each.fingerprint for each in made}
    compiled = [code.compile_id for code in process.bytecodes if code.fingerprint in fingerprints]
    return compiled, not any(f.name in names and f.outcome != "compiled" for f in process.frames)
