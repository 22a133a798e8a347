"""The cost of compiling: by compile, by phase, wasted on restarts and failures, by traced function."""

import re
from collections.abc import Iterable, Sequence

from ...model import CacheLookup, Compile, CompileId, Frame, Place, Process, Recording
from ...model import Phase as RecordedPhase
from ...shared.declared import Seconds
from ...shared.failed_guard import without_stack_names
from ...shared.names import TRACING_TIME
from ...shared.quick_dataclass import dataclass
from ..summary import by_compile
from ..words import first_line
from .phases import COMPILED_AUTOGRAD, Span, seconds_of_trees, spans

# The cache that is looked up at the start of a phase. Source:
# torch/_functorch/_aot_autograd/autograd_cache.py (try_load) and torch/_inductor/compile_fx.py
# (_compile_fx_inner), which add the outcome to the phase's arguments.
_CACHE_OF_PHASE = {"backend_compile": "aotautograd_cache", "inductor_compile": "fx_graph_cache"}
_COLD = ("miss", "bypass")  # the third outcome, "disabled", means that there was no look-up


@dataclass(frozen=True)
class CompileCost:
    """The cost of one compile, forward or backward. `seconds` is None where it was not timed.

    `trees` are its phases, empty where they were not recorded. `lookups` has the outcomes of its cache
    look-ups by cache, None where none was recorded. `method` is as in `Frame`.
    """

    compile_id: CompileId | None
    is_backward: bool
    name: str | None
    place: Place | None
    seconds: float | None
    trees: tuple[Span, ...]
    lookups: dict[str, tuple[str, ...]] | None
    method: str | None = None

    @property
    def is_cut_off(self) -> bool:
        """Whether one of the phases has no end in the recording."""
        return any(tree.phase.end_ns is None for tree in self.trees)

    @property
    def temperature(self) -> str | None:
        """`cached`, `cold` or `partly cached`; None where no look-up was recorded."""
        outcomes = [outcome for each in (self.lookups or {}).values() for outcome in each]
        hits, colds = outcomes.count("hit"), sum(outcomes.count(outcome) for outcome in _COLD)
        if not hits and not colds:
            return None
        return "partly cached" if hits and colds else "cached" if hits else "cold"


def compile_costs(process: Process) -> list[CompileCost]:
    """The compiles of a process, the costliest first, those without a time last."""
    trees: dict[tuple[CompileId | None, bool], list[Span]] = {}
    for phase in process.phases:
        (tree,) = spans([phase])
        trees.setdefault((phase.compile_id, tree.kind.is_backward), []).append(tree)
    metrics: dict[tuple[CompileId | None, bool], Compile] = {}
    for compile_ in process.compiles:
        metrics.setdefault((compile_.compile_id, not compile_.is_forward), compile_)
    names, lookups = _frames(process), by_compile(process.caching.lookups)
    costs = [
        _cost(lookups.get(key[0], ()), key, trees.get(key, ()), metrics.get(key), names)
        for key in dict.fromkeys([*trees, *metrics])
    ]
    return sorted(costs, key=lambda cost: (cost.seconds is None, -(cost.seconds or 0.0)))


_FrameOf = tuple[str | None, Place | None, str | None]  # its name, place and method
_UNKNOWN: _FrameOf = (None, None, None)


def _cost(
    recorded_lookups: Iterable[CacheLookup],
    key: tuple[CompileId | None, bool],
    trees: Sequence[Span],
    metrics: Compile | None,
    names: dict[CompileId | None, _FrameOf],
) -> CompileCost:
    compile_id, is_backward = key
    name, place, method = names.get(compile_id, _UNKNOWN) if compile_id is not None else _UNKNOWN
    if compile_id is None and trees:
        name = trees[0].phase.name  # compiled outside any frame: all that is known of it
    elif compile_id is not None and compile_id.frame is None:
        name = COMPILED_AUTOGRAD
    lookups = _lookups([tree.phase for tree in trees])
    if not lookups and not is_backward:  # cut off before the phase could tell, or of an older torch
        lookups = _recorded_lookups(recorded_lookups)
    timed = seconds_of_trees(trees) if trees else None
    counted = metrics.seconds if metrics is not None else None  # torch's own figure, as other reports have it
    seconds = timed if counted is None else counted
    return CompileCost(compile_id, is_backward, name, place, seconds, tuple(trees), lookups or None, method)


def _frames(process: Process) -> dict[CompileId | None, _FrameOf]:
    """The frame of each compile, from any record that has it; only graphs name those of compiled autograd."""
    found: dict[CompileId | None, _FrameOf] = {}
    items: list[Compile | Frame] = [*process.compiles, *process.frames]
    for item in items:
        if item.name is not None and item.place is not None:
            found[item.compile_id] = item.name, item.place, item.method
    for graph in process.graphs:
        if graph.frame_name is not None:
            found[graph.compile_id] = graph.frame_name, graph.frame_place, graph.method
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
    """The recorded outcomes by cache; these records do not distinguish forward and backward look-ups."""
    found: dict[str, tuple[str, ...]] = {}
    for lookup in lookups:
        found[lookup.cache] = (*found.get(lookup.cache, ()), lookup.outcome)
    return found


# Compile time by phase: the phases add up to the time of the compiles.

# torch's cumulative times, each within the one before; each title is for the time outside the next one.
_NESTED = (
    ("dynamo", "Dynamo: tracing, guards"),
    ("backend", "backend: own code, AOTAutograd, caches"),
    ("inductor", "backend: Inductor, lowering and scheduling"),
    ("inductor_code_gen", "backend: Inductor, code generation and kernels"),
)


@dataclass(frozen=True)
class Phase:
    """A phase and the seconds that all compiles spent in it, without the phases inside it."""

    name: str
    seconds: Seconds


@dataclass(frozen=True)
class AvoidableSeconds:
    """The part of the compile time spent in recompiles, in attempts before a restart, in failed compiles."""

    recompiles: float
    restarted: float
    failed: float


def avoidable_seconds(recording: Recording) -> AvoidableSeconds:
    """The avoidable seconds of all processes; times that were not recorded do not count."""
    compiles = [compile_ for process in recording.processes for compile_ in process.compiles]
    return AvoidableSeconds(
        recompiles=sum(c.seconds or 0.0 for p in recording.processes for c in p.recompiles),
        restarted=sum(c.seconds_before_restart or 0.0 for c in compiles),
        failed=sum(c.seconds or 0.0 for c in compiles if c.fail_type is not None),
    )


def phases_of(compiles: Sequence[Compile]) -> list[Phase]:
    """The phases that took any time, in order; backward graphs, which compile later, are a separate phase."""
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


# Wasted compile time: attempts before a restart, frames that fell back to eager, and what recompiles cost.

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
    method: str | None = None


@dataclass(frozen=True)
class WastedCompiles:
    """The time lost by compiles. The restarts of a frame that fell back count there, and not as restarts.

    Recompiles are not wasted, but were avoidable; their restarts are in both lists.
    """

    restarts: list[Loss]
    failed_to_compile: list[Loss]
    recompiles: list[Loss]


def wasted_compiles(process: Process, costs: Sequence[CompileCost]) -> WastedCompiles:
    """The losses of a process, the largest first in each list."""
    forward = {cost.compile_id: cost for cost in costs if not cost.is_backward}
    failed_to_compile = _failed(process, forward)
    lost = {loss.compile_id for loss in failed_to_compile}
    restarts = [
        loss
        for compile_ in process.compiles
        if compile_.is_forward and compile_.compile_id not in lost and (loss := _restart(compile_, forward))
    ]
    recompiled = {compile_.compile_id: compile_ for compile_ in process.recompiles}
    by_id: dict[CompileId | None, list[CompileCost]] = {}
    for cost in costs:
        by_id.setdefault(cost.compile_id, []).append(cost)
    recompiles = [
        _recompile(compile_, by_id.get(key, ())) for key, compile_ in recompiled.items() if key not in lost
    ]
    return WastedCompiles(*map(_largest_first, (restarts, failed_to_compile, recompiles)))


def seconds_of(losses: Iterable[Loss]) -> float | None:
    """The seconds of all losses together; None where none of them is known."""
    known = [loss.seconds for loss in losses if loss.seconds is not None]
    return sum(known) if known else None


def _largest_first(losses: Iterable[Loss]) -> list[Loss]:
    return sorted(losses, key=lambda loss: -(loss.seconds or 0.0))


def _restart(compile_: Compile, forward: dict[CompileId | None, CompileCost]) -> Loss | None:
    cost = forward.get(compile_.compile_id)
    attempts = {} if cost is None else _attempts(cost)
    timed = sum(seconds for number, seconds in attempts.items() if number < max(attempts))
    if not compile_.restart_reasons and not timed:
        return None
    seconds = timed or compile_.seconds_before_restart
    reason = "; ".join(map(first_line, compile_.restart_reasons)) or None
    return Loss(compile_.compile_id, compile_.name, compile_.place, seconds, reason, compile_.method)


def _attempts(cost: CompileCost) -> dict[int, float]:
    """The seconds of each attempt of a compile, by the number of the attempt."""
    attempts: dict[int, float] = {}
    for span in (span for tree in cost.trees for span in tree.walk()):
        if found := _ATTEMPT.fullmatch(span.phase.name):
            attempts[int(found[1][:9])] = span.total_ns / 1e9
    return attempts


def _failed(process: Process, forward: dict[CompileId | None, CompileCost]) -> list[Loss]:
    """The frames that fell back to eager or raised; a trace of another tool only shows failed compiles."""
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
        first = first_line(reason) if reason else None
        took = cost.seconds if cost else None
        losses.append(Loss(compile_id, item.name, item.place, took, first, item.method))
    return losses


def _recompile(compile_: Compile, costs: Sequence[CompileCost]) -> Loss:
    """The loss by a recompile, its backward graph included; `costs` are those of this compile."""
    known = [cost.seconds for cost in costs if cost.seconds is not None]
    reason = without_stack_names(first_line(compile_.recompile_reason))
    took = sum(known) if known else None
    return Loss(compile_.compile_id, compile_.name, compile_.place, took, reason, compile_.method)


# The functions that Dynamo traced, in all attempts of all compiles together.


@dataclass(frozen=True)
class Traced:
    """The cost of tracing a function. `attempts` counts the compile attempts in which it was traced."""

    name: str
    place: Place
    calls: int
    attempts: int
    exclusive_seconds: float
    inclusive_seconds: float


@dataclass(frozen=True)
class Tracing:
    """The traced functions, by their own time; `other_*` are functions without a name in the recording."""

    functions: list[Traced]
    other_calls: int
    other_seconds: float

    @property
    def seconds(self) -> float:
        """The whole time of tracing: the sum of the exclusive times."""
        return sum(function.exclusive_seconds for function in self.functions) + self.other_seconds


def tracing(process: Process) -> Tracing | None:
    """The tracing of a process by function; None where it was not recorded."""
    if not process.entire.health.record_counts.get(TRACING_TIME):
        return None
    named: dict[tuple[str, Place], Traced] = {}
    other_calls, other_seconds = 0, 0.0
    for traced in process.tracing:
        if traced.name is None or traced.place is None:
            other_calls += traced.calls
            other_seconds += traced.exclusive_seconds
            continue
        key = traced.name, traced.place
        before = named.get(key, Traced(traced.name, traced.place, 0, 0, 0.0, 0.0))
        named[key] = Traced(
            name=traced.name,
            place=traced.place,
            calls=before.calls + traced.calls,
            attempts=before.attempts + 1,
            exclusive_seconds=before.exclusive_seconds + traced.exclusive_seconds,
            inclusive_seconds=before.inclusive_seconds + (traced.inclusive_seconds or 0.0),
        )
    functions = sorted(named.values(), key=lambda function: -function.exclusive_seconds)
    return Tracing(functions, other_calls, other_seconds)
