"""All that one autotuning came to, which the page and the JSON document are made of."""

from collections.abc import Sequence

from dynamo_core.autotune.decision import Decision, decide
from dynamo_core.autotune.distinct_graphs import DistinctGraph
from dynamo_core.autotune.tuning import Result
from dynamo_core.shared.quick_dataclass import dataclass
from dynamo_core.tuned.measurement import Measurement


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
    """Those of a graph, from the simplest candidate; none where it could not be measured."""
    return () if result.tuned is None else result.tuned.measurements


def measurement_of(result: Result, candidate: str | None) -> Measurement | None:
    """What was measured of one candidate; None where it was not."""
    return next((each for each in measurements_of(result) if each.candidate == candidate), None)
