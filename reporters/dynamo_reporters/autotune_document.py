"""`dynamo autotune` as JSON: one declaration for the document and its schema."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from dynamo_core.analysis.graphs.nodes import TIMES
from dynamo_core.analysis.words import seconds
from dynamo_core.bench.autotune.rounds import (
    LEAST_PAIRS,
    Decision,
    Standing,
    decide,
    fastest,
    is_far_behind,
    standing,
    time_ratio,
)
from dynamo_core.bench.autotune.tuning import DistinctGraph, Result
from dynamo_core.model import CompileId, Place
from dynamo_core.shared.conversion import from_fields
from dynamo_core.shared.declared import At, Count
from dynamo_core.shared.quick_dataclass import dataclass
from dynamo_core.shared.timing import SURE, Ratio
from dynamo_core.shared.winners import AGREES, Measurement

from .page.blocks import Estimate, Intervals, Table, table
from .parts.measured import Measured

# The candidates of one graph beside each other: a table, and how fast each is.


_WINNER = "★"


def candidates_table(measurements: Sequence[Measurement], winner: str | None) -> Table:
    """A row a candidate, from the simplest; compared with the winner, or else with the fastest."""
    best = best_of(measurements, winner)
    reference = "the winner" if winner is not None else "the fastest"

    def shown(each: Measurement, part: float | None) -> str:
        whole, beside_best = each.seconds, seconds_beside(each, best)
        return "" if part is None or not whole or beside_best is None else seconds(part * beside_best / whole)

    return table(
        f"|candidate|forward>|backward>|beside {reference}>|{SURE * 100:.0f} %|compile>|verdict",
        [
            [
                _WINNER if each.candidate == winner else "",
                each.candidate,
                shown(each, each.forward_seconds),
                shown(each, each.backward_seconds),
                *_beside(each, best),
                "" if each.compile_seconds is None else seconds(each.compile_seconds),
                _verdict(each, best, winner),
            ]
            for each in measurements
        ],
    )


def candidates_intervals(measurements: Sequence[Measurement], winner: str | None) -> Iterator[Intervals]:
    """How fast each is beside the winner or the fastest, where enough rounds say it."""
    best = best_of(measurements, winner)
    estimates = []
    for each in measurements:
        ratio = _ratio(each, best)
        if ratio is not None and ratio.interval is not None:
            low, high = ratio.interval
            estimates.append(Estimate(each.candidate, 1 / ratio.estimate, 1 / high, 1 / low))
    if best is not None and estimates:
        yield Intervals(f"as fast as {best.candidate} ({SURE * 100:.0f} %)", estimates)


def best_of(measurements: Sequence[Measurement], winner: str | None) -> Measurement | None:
    """The one that the others are compared with: the winner, or else the fastest."""
    return next((each for each in measurements if each.candidate == winner), fastest(measurements))


def seconds_beside(measurement: Measurement, best: Measurement | None) -> float | None:
    """What a call takes: of the best one in its typical round, and of others what the ratio makes of that.

    Another one's own typical round may have met the machine in another state, in which all were faster.
    """
    ratio = _ratio(measurement, best)
    if ratio is None or best is None or best.seconds is None:
        return measurement.seconds
    return best.seconds * ratio.estimate


def _beside(measurement: Measurement, best: Measurement | None) -> tuple[str, str]:
    """How many times as long it takes, round by round, and the interval."""
    ratio = _ratio(measurement, best)
    if ratio is None:
        return "", ""
    between = "" if ratio.interval is None else f"{ratio.interval[0]:.2f} to {ratio.interval[1]:.2f}"
    return f"{ratio.estimate:.2f}{TIMES}", between


def _ratio(measurement: Measurement, best: Measurement | None) -> Ratio | None:
    """None of the one that the others are compared with, and where too few rounds are behind it."""
    ratio = None if best is None or measurement is best else time_ratio(measurement, best)
    return None if ratio is None or ratio.rounds < LEAST_PAIRS else ratio


def _verdict(measurement: Measurement, best: Measurement | None, winner: str | None) -> str:
    found = standing_of(measurement, best, winner)
    return measurement.verdict if found is None else found


def standing_of(measurement: Measurement, best: Measurement | None, winner: str | None) -> Standing | None:
    """What it is beside the best one; None of one that could not be timed."""
    if measurement.verdict != AGREES:
        return None
    if winner is None or best is None:
        return "slower" if is_far_behind(measurement, best) else "undecided"
    return standing(measurement, best)


# All that one autotuning came to, which the page and the JSON document are made of.


@dataclass(frozen=True)
class Tuning:
    """All that one autotuning came to. `unusable` says of candidates why they cannot be used here."""

    file: str
    graphs: Sequence[DistinctGraph]
    results: Sequence[Result]
    unusable: dict[str, str]

    @property
    def tuned(self) -> list[tuple[DistinctGraph, Result, Measurement]]:
        """The graphs that have a winner, with its measurement."""
        found = []
        for graph, result in zip(self.graphs, self.results, strict=True):
            best = None if result.tuned is None else measurement_of(result, result.tuned.winner)
            if best is not None:
                found.append((graph, result, best))
        return found

    @property
    def undecided(self) -> list[tuple[DistinctGraph, Result, Decision]]:
        """The graphs whose rounds did not decide, and between which candidates."""
        found = []
        for graph, result in zip(self.graphs, self.results, strict=True):
            if result.tuned is not None and result.tuned.winner is None:
                found.append((graph, result, decide(result.tuned.measurements)))
        return found


def measurements_of(result: Result) -> Sequence[Measurement]:
    """The measurements of a graph, from the simplest candidate; none where it could not be measured."""
    return () if result.tuned is None else result.tuned.measurements


def measurement_of(result: Result, candidate: str | None) -> Measurement | None:
    """What was measured of one candidate; None where it was not."""
    return next((each for each in measurements_of(result) if each.candidate == candidate), None)


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
    device: Annotated[str | None, At("tuned.conditions.device")]
    torch: Annotated[str | None, At("tuned.conditions.torch")]
    settings: Annotated[
        str | None, At("tuned.conditions.settings"), "what stands for the settings of torch's compilers"
    ]
    sizes: Annotated[
        tuple[str, ...] | None,
        At("tuned.conditions.sizes"),
        "the class of each symbolic size; a winner holds for them",
    ]
    winner: Annotated[str | None, At("tuned.winner"), "stored in the file; null if nothing was decided"]
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
    winner = None if tuned is None else tuned.winner
    best = best_of(measurements_of(result), winner)
    return from_fields(
        GraphTuned,
        result,
        numbers=[member.number for _, member in graph.members],
        compile_id=first.compile_id,
        key=graph.to_tune.key or None,
        frame=first.frame_name,
        place=first.frame_place,
        op_count=first.ops,
        calls=graph.calls,
        backend=graph.backend,
        inputs=list(graph.to_tune.inputs),
        undecided=[] if tuned is None or winner else list(decide(tuned.measurements).between),
        measurements=[_measured(each, best, winner) for each in measurements_of(result)],
    )


def _measured(measurement: Measurement, best: Measurement | None, winner: str | None) -> CandidateMeasured:
    return CandidateMeasured(
        **measurement.as_json(),
        standing=standing_of(measurement, best, winner),
        beside_best=_beside_best(measurement, best),
    )


def _beside_best(measurement: Measurement, best: Measurement | None) -> BesideBest | None:
    """None of the best one itself, and where no round counts in both."""
    ratio = None if best is None or measurement is best else time_ratio(measurement, best)
    if ratio is None:
        return None
    low, high = (None, None) if ratio.interval is None else ratio.interval
    return BesideBest(ratio.estimate, low, high, ratio.rounds)
