"""What --verify found, over all graphs of a recording."""

from ..model import AGREES, DISAGREES, Graph, Process, Recording, VerifiedCall
from ..shared.quick_dataclass import dataclass
from .summary import graphs_recorded

NO_CALL = "no finished call of it was recorded"


@dataclass(frozen=True)
class VerifiedGraph:
    """A graph and the calls of it that were to be verified."""

    process: Process
    graph: Graph
    calls: tuple[VerifiedCall, ...]

    @property
    def wrong_call(self) -> VerifiedCall | None:
        """The first call that disagrees."""
        return next((call for call in self.calls if call.outcome == DISAGREES), None)

    @property
    def agrees(self) -> bool:
        """Whether calls were compared and all of them agree."""
        return self.wrong_call is None and any(call.outcome == AGREES for call in self.calls)

    @property
    def why_not_compared(self) -> str | None:
        """Why nothing of it was compared; None where something was."""
        if self.agrees or self.wrong_call is not None:
            return None
        return self.calls[-1].why or "no reason recorded" if self.calls else NO_CALL


@dataclass(frozen=True)
class Verification:
    """All graphs that were compiled, in order; without any, there was none if graphs `are_recorded`."""

    graphs: tuple[VerifiedGraph, ...]
    are_recorded: bool = True

    @property
    def agreeing(self) -> list[VerifiedGraph]:
        """Those that agree with eager."""
        return [each for each in self.graphs if each.agrees]

    @property
    def wrong(self) -> list[VerifiedGraph]:
        """Those that disagree."""
        return [each for each in self.graphs if each.wrong_call is not None]

    @property
    def not_compared(self) -> list[VerifiedGraph]:
        """Those of which nothing could be compared."""
        return [each for each in self.graphs if each.why_not_compared is not None]

    @property
    def seconds(self) -> float:
        """What verifying took, the search for a wrong node included."""
        return sum(call.seconds for each in self.graphs for call in each.calls)


def verification(recording: Recording) -> Verification | None:
    """What was found; None where --verify was not asked for."""
    is_asked = recording.settings.verify is not None
    if not is_asked and not any(process.verified for process in recording.processes):
        return None
    graphs: list[VerifiedGraph] = []
    for process in recording.processes:
        calls: dict[int, list[VerifiedCall]] = {}
        for call in process.verified:
            calls.setdefault(call.graph, []).append(call)
        graphs += (
            VerifiedGraph(process, graph, tuple(calls.get(graph.number, ())))
            for graph in process.graphs
            if graph.is_compiled
        )
    return Verification(tuple(graphs), graphs_recorded(recording))
