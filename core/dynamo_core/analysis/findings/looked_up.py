"""What findings on torch's caches have in common: look-ups, the graphs that they were for, and their cost."""

from collections.abc import Sequence

from ...model import CacheLookup, Graph, Place, Process
from ...shared.quick_dataclass import dataclass
from .finding import Cost, Evidence, Figure


@dataclass(frozen=True)
class LookedUp:
    """Look-ups of a process, and the graphs that they were for."""

    lookups: Sequence[CacheLookup]
    graphs: Sequence[Graph]

    @property
    def place(self) -> Place | None:
        """Where the frame of the first graph begins."""
        return self.graphs[0].frame_place if self.graphs else None

    @property
    def function(self) -> str | None:
        """The function of the first graph."""
        return self.graphs[0].frame_name if self.graphs else None

    @property
    def evidence(self) -> Evidence:
        """What a finding on them rests on."""
        return Evidence(
            compile_ids=tuple(dict.fromkeys(str(lookup.compile_id) for lookup in self.lookups)),
            graphs=tuple(graph.number for graph in self.graphs),
            records=tuple(dict.fromkeys(lookup.reason for lookup in self.lookups if lookup.reason)),
            times=len(self.lookups),
        )


def looked_up(process: Process, lookups: Sequence[CacheLookup]) -> LookedUp:
    """The look-ups with their graphs, in the order in which they were compiled."""
    ids = {lookup.compile_id for lookup in lookups}
    return LookedUp(lookups, [graph for graph in process.compiled_graphs if graph.compile_id in ids])


def compiled_in_vain(seconds: float) -> Cost:
    """The cost of compiling what a cache could have had: as much can be saved at most."""
    return Cost(Figure(seconds, "measured"), saves_at_most=Figure(seconds, "estimated"))
