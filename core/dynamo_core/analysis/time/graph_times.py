"""The run time of each compiled graph: how often, how long, and how much of that is overhead."""

from ...model import CallTimes, Graph, Process, Recording
from ...shared.quick_dataclass import dataclass
from ..graphs.node_text import place_in
from ..own_calls import OwnCalls
from ..words import graph_frame, place

# A call of a compiled graph costs about 10 us before the graph does anything (benchmarks/call_cost.py).
_OVERHEAD_BOUND_S = 20e-6
_OFTEN = 100
# A busy machine makes calls take so many times as long; what half of them take beyond that is their own.
_HELD_UP = 5


@dataclass(frozen=True)
class GraphTime:
    """A graph of a process with its calls. `share` is of the time in all graphs.

    Backward graphs are in it, and those that a process has of its parent.
    """

    process: Process
    graph: Graph
    share: float

    @property
    def times(self) -> CallTimes:
        """The forward's calls."""
        assert self.graph.times is not None
        return self.graph.times

    @property
    def seconds(self) -> float:
        """In the graph and its backward."""
        return self.times.seconds + (self.graph.backward.seconds if self.graph.backward else 0.0)

    @property
    def has_device_time(self) -> bool:
        """Whether some of its calls, or of its backward's, were timed on a GPU."""
        backward = self.graph.backward
        return bool(self.times.device_samples or (backward is not None and backward.device_samples))

    @property
    def typical(self) -> float | None:
        """Seconds of a call; half of them took less."""
        return self.times.percentile(0.5)

    @property
    def undisturbed(self) -> float | None:
        """Seconds of a call where nothing else holds the machine up: one in ten took less."""
        return self.times.percentile(0.1)

    @property
    def is_overhead_bound(self) -> bool:
        """Whether it is called often for so little that calling it costs as much as what it does."""
        typical, undisturbed = self.typical, self.undisturbed
        if self.times.calls < _OFTEN or typical is None or undisturbed is None:
            return False
        is_small = undisturbed < _OVERHEAD_BOUND_S and typical < _HELD_UP * _OVERHEAD_BOUND_S
        return is_small or self.has_costlier_guards

    @property
    def has_costlier_guards(self) -> bool:
        """Whether checking its guards takes longer than half of its calls do."""
        typical = self.typical
        return typical is not None and (self.times.guard_seconds or 0.0) > typical


def graph_times(recording: Recording) -> list[GraphTime]:
    """Every graph whose calls were counted, the one that took the most time first."""
    found = [
        GraphTime(process, graph, 0.0)
        for process in recording.processes
        for graph in process.graphs
        if graph.times is not None and graph.times.calls
    ]
    total = sum(each.seconds for each in found)
    total += sum(process.inherited_seconds for process in recording.processes)
    shared = [GraphTime(each.process, each.graph, each.seconds / total if total else 0.0) for each in found]
    return sorted(shared, key=lambda each: -each.seconds)


def frame_text(graph: Graph, own_calls: OwnCalls) -> str:
    """A graph's frame and where it is: `step (train.py:3)`, `Sequential.forward (called at train.py:9)`.

    Compiled autograd's are in no file.
    """
    if graph.frame_name is not None and graph.frame_place is None:
        return graph.frame_name
    call = own_calls.of(graph.compile_id, graph.frame_place)
    if call is not None:
        return f"{graph_frame(graph)} (called at {place(call.place)})"
    return place_in(graph)


def first_call(times: CallTimes) -> float | None:
    """Seconds of the first call, which may load, record or tune what later ones only use."""
    return times.early[0].seconds if times.early else None


def steady_mean(times: CallTimes) -> float | None:
    """Seconds of a call after the first; None where there was no other."""
    first = first_call(times)
    if times.calls < 2 or first is None:
        return None
    return max(times.seconds - first, 0.0) / (times.calls - 1)
