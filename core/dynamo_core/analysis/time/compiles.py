"""Each compile of a process with what it cost, forward and backward apart, and whether a cache spared it."""

import re
from collections.abc import Iterable, Sequence

from ...model import CacheLookup, Compile, CompileId, Frame, Place, Process, Recording
from ...model import Phase as RecordedPhase
from ...shared.declared import Seconds
from ...shared.names import TRACING_TIME
from ...shared.quick_dataclass import dataclass
from ..summary import by_compile
from ..words import first_line
from .phases import COMPILED_AUTOGRAD, Span, spans

# Which look-up a phase begins with. Source: torch/_functorch/_aot_autograd/autograd_cache.py (try_load) and
# torch/_inductor/compile_fx.py (_compile_fx_inner), which add its outcome to these phases' arguments.
_CACHE_OF_PHASE = {"backend_compile": "aotautograd_cache", "inductor_compile": "fx_graph_cache"}
# A miss or a bypass; "disabled" is a look-up that was not made.
_COLD = ("miss", "bypass")


@dataclass(frozen=True)
class CompileCost:
    """What one compile cost, in one direction. `seconds` is None where nothing timed it.

    `trees` are its phases, empty where they were not recorded; `is_cut_off` says that one of them has no end.
    `lookups` has the outcomes by cache, None where none was recorded.
    """

    compile_id: CompileId | None
    is_backward: bool
    name: str | None
    place: Place | None
    seconds: float | None
    trees: tuple[Span, ...]
    lookups: dict[str, tuple[str, ...]] | None

    @property
    def is_cut_off(self) -> bool:
        """Whether its end was not recorded."""
        return any(tree.phase.end_ns is None for tree in self.trees)

    @property
    def temperature(self) -> str | None:
        """`cached`, `cold`, `partly cached`; None where no look-up was recorded."""
        outcomes = [outcome for each in (self.lookups or {}).values() for outcome in each]
        hits, colds = outcomes.count("hit"), sum(outcomes.count(outcome) for outcome in _COLD)
        if not hits and not colds:
            return None
        return "partly cached" if hits and colds else "cached" if hits else "cold"


def compile_costs(process: Process) -> list[CompileCost]:
    """The compiles of a process, the costliest first, those that nothing timed last."""
    trees: dict[tuple[CompileId | None, bool], list[Span]] = {}
    for phase in process.phases:
        (tree,) = spans([phase])
        trees.setdefault((phase.compile_id, tree.kind.is_backward), []).append(tree)
    metrics: dict[tuple[CompileId | None, bool], Compile] = {}
    for compile_ in process.compiles:
        metrics.setdefault((compile_.compile_id, not compile_.is_forward), compile_)
    names, lookups = _frames(process), by_compile(process.cache_lookups)
    costs = [
        _cost(lookups.get(key[0], ()), key, trees.get(key, ()), metrics.get(key), names)
        for key in dict.fromkeys([*trees, *metrics])
    ]
    return sorted(costs, key=lambda cost: (cost.seconds is None, -(cost.seconds or 0.0)))


def _cost(
    recorded_lookups: Iterable[CacheLookup],
    key: tuple[CompileId | None, bool],
    trees: Sequence[Span],
    metrics: Compile | None,
    names: dict[CompileId | None, tuple[str | None, Place | None]],
) -> CompileCost:
    compile_id, is_backward = key
    name, place = names.get(compile_id, (None, None)) if compile_id is not None else (None, None)
    if compile_id is None and trees:
        name = trees[0].phase.name  # compiled outside any frame: all that is known of it
    elif compile_id is not None and compile_id.frame is None:
        name = COMPILED_AUTOGRAD
    lookups = _lookups([tree.phase for tree in trees])
    if not lookups and not is_backward:  # cut off before the phase could tell, or of an older torch
        lookups = _recorded_lookups(recorded_lookups)
    timed = sum(tree.total_ns for tree in trees) / 1e9 if trees else None
    counted = metrics.seconds if metrics is not None else None  # torch's own figure, as other reports have it
    seconds = timed if counted is None else counted
    return CompileCost(compile_id, is_backward, name, place, seconds, tuple(trees), lookups or None)


def _frames(process: Process) -> dict[CompileId | None, tuple[str | None, Place | None]]:
    """The frame of each compile, from whichever record has it; a graph knows if it is compiled autograd's."""
    found: dict[CompileId | None, tuple[str | None, Place | None]] = {}
    items: list[Compile | Frame] = [*process.compiles, *process.frames]
    for item in items:
        if item.name is not None and item.place is not None:
            found[item.compile_id] = item.name, item.place
    for graph in process.graphs:
        if graph.frame_name is not None:
            found[graph.compile_id] = graph.frame_name, graph.frame_place
    return found


def _lookups(phases: Iterable[RecordedPhase]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for phase in phases:
        cache = _CACHE_OF_PHASE.get(phase.name)
        if cache is not None and phase.cache_state is not None:
            found[cache] = (*found.get(cache, ()), phase.cache_state)
        for name, outcomes in _lookups(phase.children).items():
            found[name] = (*found.get(name, ()), *outcomes)
    return found


def _recorded_lookups(lookups: Iterable[CacheLookup]) -> dict[str, tuple[str, ...]]:
    """The records of torch's caches, which do not tell the backward's look-ups from the forward's."""
    found: dict[str, tuple[str, ...]] = {}
    for lookup in lookups:
        found[lookup.cache] = (*found.get(lookup.cache, ()), lookup.outcome)
    return found


# Compile time by phase, so that the phases add up to what the compiles took.


# torch's cumulative times, each within the one before; the name is for what it holds beside the next.
_NESTED = (
    ("dynamo", "Dynamo: tracing, guards"),
    ("backend", "backend: AOTAutograd, caches"),
    ("inductor", "backend: Inductor, lowering and scheduling"),
    ("inductor_code_gen", "backend: Inductor, code generation and kernels"),
)


@dataclass(frozen=True)
class Phase:
    """A phase and the seconds that all compiles spent in it, without the phases inside."""

    name: str
    seconds: Seconds


@dataclass(frozen=True)
class AvoidableSeconds:
    """Of what compiling took: in recompiles, in analysis that began again, in compiles that failed."""

    recompiles: float
    restarted: float
    failed: float


def avoidable_seconds(recording: Recording) -> AvoidableSeconds:
    """Those of all processes; what was not recorded of a compile does not count."""
    compiles = [compile_ for process in recording.processes for compile_ in process.compiles]
    return AvoidableSeconds(
        recompiles=sum(c.seconds or 0.0 for p in recording.processes for c in p.recompiles),
        restarted=sum(c.seconds_before_restart or 0.0 for c in compiles),
        failed=sum(c.seconds or 0.0 for c in compiles if c.fail_type is not None),
    )


def phases_of(compiles: Sequence[Compile]) -> list[Phase]:
    """The phases that took any time, in order; backward graphs, which compile later, are one of their own."""
    forward = [compile_ for compile_ in compiles if compile_.is_forward]
    cumulative = [_cumulative(forward, name) for name, _ in _NESTED] + [0.0]
    found = [
        Phase(title, max(0.0, own - inner))
        for (_, title), own, inner in zip(_NESTED, cumulative, cumulative[1:], strict=False)
    ]
    found.append(Phase("backward graphs", sum(c.seconds or 0.0 for c in compiles if not c.is_forward)))
    return [phase for phase in found if phase.seconds > 0]


def _cumulative(compiles: Sequence[Compile], name: str) -> float:
    if name == "dynamo":
        return sum(compile_.seconds or 0.0 for compile_ in compiles)
    return sum(compile_.phases.get(name, 0.0) for compile_ in compiles)


# Compile time that came to nothing: attempts that began again, frames given up; and what recompiles cost.


# Source: torch/_dynamo/convert_frame.py (compile_inner), 2.13; traces of older versions may lack it.
_ATTEMPT = re.compile(r"compile_attempt_(\d+)")


@dataclass(frozen=True)
class Loss:
    """Time that a compile lost, and why. `seconds` is None where it was not recorded."""

    compile_id: CompileId | None
    name: str | None
    place: Place | None
    seconds: float | None
    reason: str | None


@dataclass(frozen=True)
class WastedCompiles:
    """What was lost. A frame that was given up has its restarts in its own time, and in no other list.

    Recompiles are not lost, but would not have been needed; their restarts are in both lists.
    """

    restarts: list[Loss]
    failed_to_compile: list[Loss]
    recompiles: list[Loss]


def wasted_compiles(process: Process, costs: Sequence[CompileCost]) -> WastedCompiles:
    """The losses of a process, the dearest first in each list."""
    forward = {cost.compile_id: cost for cost in costs if not cost.is_backward}
    failed_to_compile = _gave_up(process, forward)
    lost = {loss.compile_id for loss in failed_to_compile}
    restarts = [
        loss
        for compile_ in process.compiles
        if compile_.is_forward and compile_.compile_id not in lost and (loss := _restart(compile_, forward))
    ]
    again = {compile_.compile_id: compile_ for compile_ in process.recompiles}
    by_id: dict[CompileId | None, list[CompileCost]] = {}
    for cost in costs:
        by_id.setdefault(cost.compile_id, []).append(cost)
    recompiles = [
        _recompile(compile_, by_id.get(key, ())) for key, compile_ in again.items() if key not in lost
    ]
    return WastedCompiles(*map(_dearest_first, (restarts, failed_to_compile, recompiles)))


def seconds_of(losses: Iterable[Loss]) -> float | None:
    """What they cost together; None where there are none of which that is known."""
    known = [loss.seconds for loss in losses if loss.seconds is not None]
    return sum(known) if known else None


def _dearest_first(losses: Iterable[Loss]) -> list[Loss]:
    return sorted(losses, key=lambda loss: -(loss.seconds or 0.0))


def _restart(compile_: Compile, forward: dict[CompileId | None, CompileCost]) -> Loss | None:
    cost = forward.get(compile_.compile_id)
    attempts = {} if cost is None else _attempts(cost)
    timed = sum(seconds for number, seconds in attempts.items() if number < max(attempts))
    if not compile_.restart_reasons and not timed:
        return None
    seconds = timed or compile_.seconds_before_restart
    reason = "; ".join(map(first_line, compile_.restart_reasons)) or None
    return Loss(compile_.compile_id, compile_.name, compile_.place, seconds, reason)


def _attempts(cost: CompileCost) -> dict[int, float]:
    """The seconds of each attempt, by its number."""
    attempts: dict[int, float] = {}
    for span in (span for tree in cost.trees for span in tree.walk()):
        if found := _ATTEMPT.fullmatch(span.phase.name):
            attempts[int(found[1][:9])] = span.total_ns / 1e9
    return attempts


def _gave_up(process: Process, forward: dict[CompileId | None, CompileCost]) -> list[Loss]:
    """The frames that ran eager, or raised, after all; of a trace that is not ours, failed compiles."""
    by_id: dict[CompileId | None, Frame | Compile] = {
        compile_.compile_id: compile_
        for compile_ in process.compiles
        if compile_.is_forward and (compile_.fail_type or compile_.fail_reason)
    }
    by_id |= {
        frame.compile_id: frame
        for frame in process.frames
        if frame.outcome != "compiled" and frame.compile_id is not None
    }
    losses = []
    for compile_id, item in by_id.items():
        cost = forward.get(compile_id)
        reason = item.reason if isinstance(item, Frame) else item.fail_reason or item.fail_type
        told = first_line(reason) if reason else None
        losses.append(Loss(compile_id, item.name, item.place, cost.seconds if cost else None, told))
    return losses


def _recompile(compile_: Compile, costs: Sequence[CompileCost]) -> Loss:
    """All that was compiled again, the backward graph too; the costs are the compile's own."""
    known = [cost.seconds for cost in costs if cost.seconds is not None]
    reason = first_line(compile_.recompile_reason)
    return Loss(compile_.compile_id, compile_.name, compile_.place, sum(known) if known else None, reason)


# The functions that Dynamo spent its tracing on, all attempts of all compiles together.


@dataclass(frozen=True)
class Traced:
    """What tracing a function cost. `attempts` is in how many attempts of Dynamo it was traced."""

    name: str
    place: Place
    calls: int
    attempts: int
    exclusive_seconds: float
    inclusive_seconds: float


@dataclass(frozen=True)
class Tracing:
    """The functions, by their own time; what others were traced that have no name in the recording."""

    functions: list[Traced]
    other_calls: int
    other_seconds: float

    @property
    def seconds(self) -> float:
        """All of it: what functions took without those they call adds up."""
        return sum(function.exclusive_seconds for function in self.functions) + self.other_seconds


def tracing(process: Process) -> Tracing | None:
    """What a process spent on tracing; None where it was not recorded."""
    if not process.entire.record_counts.get(TRACING_TIME):
        return None
    named: dict[tuple[str, Place], Traced] = {}
    other_calls, other_seconds = 0, 0.0
    for each in process.tracing:
        if each.name is None or each.place is None:
            other_calls += each.calls
            other_seconds += each.exclusive_seconds
            continue
        before = named.get((each.name, each.place), Traced(each.name, each.place, 0, 0, 0.0, 0.0))
        named[each.name, each.place] = Traced(
            name=each.name,
            place=each.place,
            calls=before.calls + each.calls,
            attempts=before.attempts + 1,
            exclusive_seconds=before.exclusive_seconds + each.exclusive_seconds,
            inclusive_seconds=before.inclusive_seconds + (each.inclusive_seconds or 0.0),
        )
    functions = sorted(named.values(), key=lambda function: -function.exclusive_seconds)
    return Tracing(functions, other_calls, other_seconds)
