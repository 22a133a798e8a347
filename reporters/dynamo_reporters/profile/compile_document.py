"""Compile time, as the document of `dynamo profile` has it: whole, with nothing folded."""

from typing import Annotated, ClassVar, Literal

from dynamo_core.analysis.time.compiles import (
    CompileCost,
    Loss,
    Traced,
    compile_costs,
    seconds_of,
    tracing,
    wasted_compiles,
)
from dynamo_core.analysis.time.phases import CompileSplit, Node, phase_tree
from dynamo_core.case import Case
from dynamo_core.model import CompileId, Place, Process
from dynamo_core.shared.conversion import from_fields
from dynamo_core.shared.declared import At, Seconds
from dynamo_core.shared.quick_dataclass import dataclass


@dataclass(frozen=True)
class CategorySeconds:
    """What a category of phases took."""

    category: str
    forward_seconds: float
    backward_seconds: float


@dataclass(frozen=True)
class PassSeconds:
    """What one of Inductor's passes took."""

    name: str
    seconds: float


@dataclass(frozen=True)
class ParallelPhase:
    """A phase in a worker thread."""

    name: str
    compile_id: CompileId | None
    seconds: Seconds | None


@dataclass(frozen=True)
class ParallelPhases:
    """What ran in worker threads."""

    seconds: Annotated[float, At("parallel_seconds")]
    threads: Annotated[int, At("parallel_threads")]
    phases: list[ParallelPhase]


@dataclass(frozen=True)
class PhaseOfCompile:
    """Phases of one name that the same phase holds."""

    in_common: ClassVar[str] = "phase_of_compile"

    name: Annotated[str | None, "torch's"]
    category: str | None
    count: Annotated[int, "of phases that stand for one"]
    seconds: Annotated[Seconds | None, "null where the clock was set back meanwhile"]
    own_seconds: Annotated[float, "without those in it"]
    phases: "list[PhaseOfCompile]"


@dataclass(frozen=True)
class CompileTaken:
    """What one compile cost, in one direction."""

    compile_id: CompileId | None
    graph: Literal["forward", "backward"]
    name: str | None
    place: Place | None
    seconds: Seconds | None
    is_cut_off: bool
    temperature: str | None
    cache_lookups: Annotated[dict[str, list[str]] | None, "what each look-up in torch's caches came to"]
    phases: list[PhaseOfCompile] | None


@dataclass(frozen=True)
class Losses:
    """Compiles that lost time in one way."""

    seconds: Seconds | None
    compiles: list[Loss]


@dataclass(frozen=True)
class LossesByWay:
    """What was thrown away: attempts before tracing restarted, frames that fell back to eager, recompiles."""

    restarts: Losses
    gave_up: Losses
    recompiles: Losses


@dataclass(frozen=True)
class OthersTraced:
    """The functions that have no name in the recording."""

    calls: Annotated[int, At("other_calls")]
    exclusive_seconds: Annotated[float, At("other_seconds")]


@dataclass(frozen=True)
class FunctionsTraced:
    """What Dynamo spent on tracing functions."""

    seconds: float
    functions: list[Traced]
    others: OthersTraced


@dataclass(frozen=True)
class CompileTime:
    """Where the compile time of a process went. What was not recorded is null."""

    seconds: Annotated[
        Seconds | None,
        At("total_seconds"),
        "in the phases that torch timed; what they have in common counts once",
    ]
    overlap_seconds: Annotated[
        Seconds | None, "in which several compiles ran; null too where the clock was set back meanwhile"
    ]
    categories: Annotated[
        list[CategorySeconds] | None, "each moment in the innermost phase: they add up to seconds"
    ]
    passes: Annotated[list[PassSeconds] | None, "each of Inductor's passes"]
    parallel: Annotated[ParallelPhases | None, "beside the compile, in none of the categories"]
    compiles: Annotated[list[CompileTaken], "the costliest first"]
    thrown_away: LossesByWay
    tracing: Annotated[FunctionsTraced | None, "the functions that Dynamo traced"]


def compile_time_of(process: Process, case: Case) -> CompileTime:
    """All that is known of the compile time of a process."""
    costs = compile_costs(process)
    whole, lost, traced = case.compile_split(process), wasted_compiles(process, costs), tracing(process)
    return from_fields(
        CompileTime,
        whole,
        categories=_categories(whole) if whole else None,
        passes=[PassSeconds(name, seconds) for name, seconds in whole.passes.items()] if whole else None,
        parallel=_parallel(process, whole) if whole else None,
        compiles=list(map(_compile, costs)),
        thrown_away=LossesByWay(
            _losses(lost.restarts), _losses(lost.failed_to_compile), _losses(lost.recompiles)
        ),
        tracing=None
        if traced is None
        else from_fields(FunctionsTraced, traced, others=from_fields(OthersTraced, traced)),
    )


def _categories(whole: CompileSplit) -> list[CategorySeconds]:
    return [
        CategorySeconds(category, whole.of(category, False), whole.of(category, True))
        for category in whole.categories
    ]


def _parallel(process: Process, whole: CompileSplit) -> ParallelPhases:
    return from_fields(
        ParallelPhases,
        whole,
        phases=[
            ParallelPhase(
                name=phase.name,
                compile_id=phase.compile_id,
                seconds=None if phase.end_ns is None else (phase.end_ns - phase.begin_ns) / 1e9,
            )
            for phase in process.parallel_phases
        ],
    )


def _compile(cost: CompileCost) -> CompileTaken:
    return from_fields(
        CompileTaken,
        cost,
        graph="backward" if cost.is_backward else "forward",
        cache_lookups=None
        if cost.lookups is None
        else {cache: list(outcomes) for cache, outcomes in cost.lookups.items()},
        phases=list(map(_phase, phase_tree(cost.trees, show_all=True))) if cost.trees else None,
    )


def _phase(node: Node) -> PhaseOfCompile:
    phases = list(map(_phase, node.children))
    return from_fields(PhaseOfCompile, node, own_seconds=node.own_ns / 1e9, phases=phases)


def _losses(losses: list[Loss]) -> Losses:
    return Losses(seconds_of(losses), losses)
