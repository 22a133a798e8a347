"""`dynamo autotune` as JSON: one declaration for the document and its schema."""

from typing import Annotated

from dynamo_core.autotune.decision import Standing, beside, decide
from dynamo_core.autotune.distinct_graphs import DistinctGraph
from dynamo_core.autotune.tuning import Result
from dynamo_core.model import CompileId, Place
from dynamo_core.shared.declared import Count
from dynamo_core.shared.quick_dataclass import dataclass
from dynamo_core.tuned.measurement import Measurement

from ..parts.measured import Measured
from .candidates import best_of, standing_of
from .tuning import Tuning, measurements_of


@dataclass(frozen=True)
class Unusable:
    """A candidate that cannot be used here for any graph."""

    candidate: str
    reason: str


@dataclass(frozen=True)
class BesideBest:
    """How many times as long a candidate takes as the best one."""

    ratio: float
    low: float | None
    high: float | None
    rounds: int


@dataclass(frozen=True)
class CandidateMeasured(Measured):
    """A candidate on a graph, and how it compares with the others."""

    standing: Annotated[
        Standing | None,
        "beside the winner, or the fastest where nothing was decided; no faster: not found to be by more "
        "than 3 %, with 99 % confidence not by more than 6 %, and perhaps slower",
    ]
    beside_best: Annotated[
        BesideBest | None,
        "how many times as long it takes as the winner, or the fastest, by the rounds in which both count; "
        "99 % interval",
    ]


@dataclass(frozen=True)
class GraphTuned:
    """A distinct graph, and what was measured of it."""

    numbers: Annotated[list[int], "of all graphs of the recording that compute the same"]
    compile_id: Annotated[CompileId | None, "of the first of them"]
    key: Annotated[
        str | None, "what the graph computes, the same in every run; null in recordings without it"
    ]
    frame: str | None
    place: Place | None
    op_count: Count | None
    calls: Annotated[Count | None, "of all of them"]
    backend: Annotated[str | None, "which took them in the recording"]
    inputs: Annotated[list[str], "dtype, shape and device"]
    device: str | None
    torch: str | None
    settings: Annotated[str | None, "what stands for the settings of torch's compilers"]
    sizes: Annotated[list[str] | None, "the class of each symbolic size; a winner holds for them"]
    winner: Annotated[str | None, "stored in the file; null if nothing was decided"]
    undecided: Annotated[list[str], "the candidates between which the rounds did not decide"]
    is_new: Annotated[bool, "whether it was measured now; else all is from the file"]
    host: Annotated[
        str | None,
        "the machine of the cluster on which it was measured, or would have been; null without --on",
    ]
    measurements: Annotated[list[CandidateMeasured], "from the simplest candidate"]
    problem: Annotated[str | None, "why the graph was not measured"]


@dataclass(frozen=True)
class Autotuned:
    """Every candidate on every graph, and the winners."""

    file: Annotated[str, "where the winners are kept"]
    unusable: Annotated[list[Unusable], "candidates that cannot be used here for any graph"]
    graphs: Annotated[list[GraphTuned], "distinct ones, in the order in which they were first compiled"]


def autotuned_of(tuning: Tuning) -> Autotuned:
    """All that one autotuning came to."""
    return Autotuned(
        file=tuning.file,
        unusable=[Unusable(name, why) for name, why in tuning.unusable.items()],
        graphs=[_graph(graph, result) for graph, result in zip(tuning.graphs, tuning.results, strict=True)],
    )


def _graph(graph: DistinctGraph, result: Result) -> GraphTuned:
    first, tuned = graph.first, result.tuned
    conditions, winner = (None, None) if tuned is None else (tuned.conditions, tuned.winner)
    best = best_of(measurements_of(result), winner)
    return GraphTuned(
        numbers=[member.number for _, member in graph.members],
        compile_id=first.compile_id,
        key=graph.to_tune.key or None,
        frame=first.frame_name,
        place=first.frame_place,
        op_count=first.ops,
        calls=graph.calls,
        backend=graph.backend,
        inputs=list(graph.to_tune.inputs),
        device=None if conditions is None else conditions.device,
        torch=None if conditions is None else conditions.torch,
        settings=None if conditions is None else conditions.settings,
        sizes=None if conditions is None else list(conditions.sizes),
        winner=winner,
        undecided=[] if tuned is None or winner else list(decide(tuned.measurements).between),
        is_new=result.is_new,
        host=result.host,
        measurements=[_measured(each, best, winner) for each in measurements_of(result)],
        problem=result.problem,
    )


def _measured(measurement: Measurement, best: Measurement | None, winner: str | None) -> CandidateMeasured:
    return CandidateMeasured(
        **measurement.as_json(),
        standing=standing_of(measurement, best, winner),
        beside_best=_beside(measurement, best),
    )


def _beside(measurement: Measurement, best: Measurement | None) -> BesideBest | None:
    """None of the best one itself, and where no round counts in both."""
    ratio = None if best is None or measurement is best else beside(measurement, best)
    if ratio is None:
        return None
    low, high = (None, None) if ratio.interval is None else ratio.interval
    return BesideBest(ratio.estimate, low, high, ratio.rounds)
