"""The repeating step of a run, found in the calls of its graphs, and the run time of each compiled graph.

A step lasts from one call of a graph to its next, with all that is called between them. Of the graphs that
are called at even intervals for most of the time after the last compile, take the one with the most calls; a
step begins with the graph around which it is called, always so many times, or with itself. A graph of
compiled autograd, which belongs to no function of the program, is chosen only if there is no other.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from itertools import accumulate, pairwise
from pathlib import PurePath

from ...model import CallSample, CallTimes, Graph, Place, Process, ProfileWindow, Recording
from ...shared.errors import NothingSelected, did_you_mean
from ...shared.quick_dataclass import dataclass
from ..graphs.nodes import place_in
from ..source_lines import UserCallSites
from ..words import graph_frame, place
from .wall import Interval, compile_intervals


class CallsBefore:
    """Counts how many calls of some graphs, together, began before a moment; built once for many moments.

    The count is a range, as only some calls were recorded one by one.
    """

    def __init__(self, graphs: Iterable[CallTimes]) -> None:
        self._least, self._most = [0], [0]
        changes: list[tuple[int, int, int]] = []  # when, and how many more began then: at least, at most
        for times in graphs:
            calls = sorted(noted_calls(times), key=lambda call: call.began_ns)
            numbers = [call.number for call in calls]
            least = [0, *accumulate(numbers, max)]
            next_one = [*accumulate(reversed(numbers), min, initial=times.calls + 1)][::-1]
            most = [max(number - 1, before) for number, before in zip(next_one, least, strict=True)]
            self._most[0] += most[0]
            more = zip(calls, pairwise(least), pairwise(most), strict=True)
            changes += ((call.began_ns, low[1] - low[0], high[1] - high[0]) for call, low, high in more)
        changes.sort()
        self._moments = [moment for moment, _, _ in changes]
        for _, more_at_least, more_at_most in changes:
            self._least.append(self._least[-1] + more_at_least)
            self._most.append(self._most[-1] + more_at_most)

    def at(self, moment: int) -> tuple[int, int]:
        """How many calls began before the moment: at least, and at most."""
        position = bisect_right(self._moments, moment)
        return self._least[position], self._most[position]


def noted_calls(times: CallTimes | None) -> list[CallSample]:
    """The calls that were recorded one by one, in order."""
    if times is None:
        return []
    calls = {call.number: call for call in (*times.early, *times.samples)}
    return [calls[number] for number in sorted(calls)]


# The steps of a run.

_LEAST_CALLS = 4  # after the last compile; fewer are no repetition


@dataclass(frozen=True)
class Steps:
    """The steps of a process. A step begins with a call of `graph`; times are in seconds.

    `warm_up` counts the steps that began before the last compile had ended, and at least the first call,
    which loads what later ones use; it is a range as not every call was recorded. `mean` is over `steady`
    steps; `blocks` are the means of `block_size` steps each. Blocks that overlap a torch.profiler window,
    which slows steps down, are left out of both. `first` are the times of the first steps, one by one;
    `first_compiling` is the compile time within the very first one.
    """

    graph: Graph
    steady: int
    steady_since_ns: int
    warm_up: tuple[int, int]
    mean: float
    blocks: tuple[float, ...]
    block_size: int
    first: tuple[float, ...]
    first_compiling: float

    @property
    def median(self) -> float:
        """The median of the blocks."""
        return _median(self.blocks)

    @property
    def spread(self) -> tuple[float, float]:
        """The fastest and the slowest block."""
        return min(self.blocks), max(self.blocks)


def last_compile_ns(process: Process) -> int:
    """When the last compile of a frame or of a backward ended; 0 if nothing was compiled."""
    frames = [f.ended_ns for f in process.frames if f.ended_ns is not None and f.outcome == "compiled"]
    return max([*frames, *(phase.last_ns for phase in process.phases)], default=0)


def find_steps(process: Process, wanted: str | None = None) -> Steps | None:
    """The steps of a process; None where nothing repeats after the last compile.

    `wanted` names the function that is a step, as `function` or `module:function`, where * and ? match: the
    compiled frame itself, or one that was on the stack when the frame was compiled.
    """
    process = process.entire
    settled = last_compile_ns(process)
    candidates = [graph for graph in process.graphs if _steady_calls(graph.times, settled) >= _LEAST_CALLS]
    if wanted is not None:
        candidates = [graph for graph in candidates if _is_within(graph, process, wanted)]
    graph = _called_once_a_step(candidates, settled)
    return None if graph is None or graph.times is None else _steps(process, graph, graph.times, settled)


def is_name_known(process: Process, wanted: str) -> bool:
    """Whether any graph, called or not, is within a function that `wanted` names."""
    process = process.entire
    return any(_is_within(graph, process, wanted) for graph in process.graphs)


def check_step(processes: Sequence[Process], wanted: str | None) -> None:
    """Raise NothingSelected if a step is named and no graph of any process is within it."""
    if wanted is None or any(is_name_known(process, wanted) for process in processes):
        return
    wholes = [process.entire for process in processes]
    names = {name for whole in wholes for graph in whole.graphs for name, _ in _stack(graph, whole) if name}
    near = did_you_mean(wanted.rpartition(":")[2], names)
    hint = f"; {near}" if near else ""
    raise NothingSelected(
        f"no compiled frame, and no function that led to one, is called {wanted}, so --step names none{hint}"
    )


def _is_within(graph: Graph, process: Process, wanted: str) -> bool:
    module, _, function = wanted.rpartition(":")
    return any(
        fnmatchcase(name, function) and (not module or (place is not None and _is_module(place, module)))
        for name, place in _stack(graph, process)
    )


def _stack(graph: Graph, process: Process) -> list[tuple[str, Place | None]]:
    """The functions on the stack when the graph's frame was compiled, and the frame itself."""
    callers = process.callers.get(graph.compile_id, ())
    stack: list[tuple[str, Place | None]] = [(caller.function, caller.place) for caller in callers]
    return [*stack, (graph.frame_name or "", graph.frame_place)]


def _is_module(place: Place, module: str) -> bool:
    """Whether a line may be in a module of this name; a stack does not show which file is `__main__`."""
    path = PurePath(place.file).with_suffix("")
    parts = path.parts[:-1] if path.name == "__init__" else path.parts
    wanted = tuple(module.split("."))
    return module == "__main__" or parts[-len(wanted) :] == wanted


def _steady_calls(times: CallTimes | None, settled: int) -> int:
    """How many calls began after `settled`, at least: exact if every call was recorded one by one."""
    return 0 if times is None else times.calls - CallsBefore([times]).at(settled)[1]


def _called_once_a_step(graphs: list[Graph], settled: int) -> Graph | None:
    """The graph whose calls are the steps: see the docstring of this module."""
    own = [graph for graph in graphs if graph.compile_id is None or graph.compile_id.autograd is None]
    lasting = _lasting(graphs, settled)
    chosen = _regular(_lasting(own, settled), settled) or _regular(lasting, settled) or lasting
    if not chosen:
        return None
    most = max(chosen, key=lambda graph: (_steady_calls(graph.times, settled), -_first_call(graph)))
    return _outermost(most, chosen, settled)


_MOST_IN_A_STEP = 24  # calls of a layer; what is called less often still, an evaluation, is no step


def _outermost(inner: Graph, graphs: list[Graph], settled: int) -> Graph:
    """The graph between two calls of which `inner` is called most often, always the same number of times.

    Of several, one whose function has no other graph, and then the first that was called.
    """

    def rank(outer: Graph) -> tuple[int, bool, int]:
        is_alone = sum(_frame_of(each) == _frame_of(outer) for each in graphs) == 1
        return _calls_between(inner, outer, settled), is_alone, -_first_call(outer)

    return max(graphs, key=rank)


def _frame_of(graph: Graph) -> tuple[str | None, Place | None]:
    return graph.frame_name, graph.frame_place


def _calls_between(inner: Graph, outer: Graph, settled: int) -> int:
    """How often `inner` is called between two calls of `outer`; 0 where that varies, or one alone trains."""
    if inner is outer:
        return 1
    calls = [call for call in noted_calls(outer.times) if call.began_ns > settled]
    if len(calls) < 2 or inner.times is None or (inner.backward is None) != (outer.backward is None):
        return 0
    count = CallsBefore([inner.times])
    (first_low, first_high), *later = (count.at(call.began_ns) for call in calls)
    numbers = [call.number - calls[0].number for call in calls[1:]]
    times = round((sum(later[-1]) - first_low - first_high) / 2 / numbers[-1])
    is_even = all(
        low - first_high <= times * number <= high - first_low
        for (low, high), number in zip(later, numbers, strict=True)
    )
    return times if is_even and 1 <= times <= _MOST_IN_A_STEP else 0


def _lasting(graphs: list[Graph], settled: int) -> list[Graph]:
    """The graphs that are called for at least half of the longest time that any is called."""
    longest = max((_span(graph.times, settled) for graph in graphs), default=0)
    return [graph for graph in graphs if 2 * _span(graph.times, settled) >= longest]


def _regular(graphs: list[Graph], settled: int) -> list[Graph]:
    return [graph for graph in graphs if _is_regular(graph.times, settled)]


def _span(times: CallTimes | None, settled: int) -> int:
    steady = [call.began_ns for call in noted_calls(times) if call.began_ns > settled]
    return max(steady, default=0) - min(steady, default=0)


def _is_regular(times: CallTimes | None, settled: int) -> bool:
    """Whether most of the time passes in intervals of about the same length.

    This is false for a layer that is called twelve times a step: its calls come in bursts.
    """
    pairs = list(pairwise(call for call in noted_calls(times) if call.began_ns > settled))
    consecutive = [pair for pair in pairs if pair[1].number == pair[0].number + 1]
    chosen = consecutive if len(consecutive) >= _LEAST_CALLS else pairs
    intervals = [(b.began_ns - a.began_ns) / (b.number - a.number) for a, b in chosen]
    typical = _median(intervals) if intervals else 0.0
    regular = sum(interval for interval in intervals if typical / 2 <= interval <= typical * 2)
    return 2 * regular >= sum(intervals)


def _median(values: Sequence[float]) -> float:
    from statistics import (
        median,
    )  # with fractions and decimals, of which a recording without calls needs none

    return median(values)


def _first_call(graph: Graph) -> int:
    return min((call.began_ns for call in noted_calls(graph.times)), default=0)


def _steps(process: Process, graph: Graph, times: CallTimes, settled: int) -> Steps | None:
    noted = noted_calls(times)
    steady = [call for call in times.samples if call.began_ns > settled and call.number > 1]
    blocks = [
        ((after.began_ns - before.began_ns) / 1e9, after.number - before.number)
        for before, after in pairwise(steady)
        if not _is_profiled(before.began_ns, after.began_ns, process.profiling.window)
    ]
    if not blocks:
        return None
    steps = sum(size for _, size in blocks)
    one_by_one = [pair for pair in pairwise(noted) if pair[1].number == pair[0].number + 1]
    first = [(before.began_ns, after.began_ns) for before, after in one_by_one][: len(times.early)]
    compiling = sum(_overlap(each, step) for step in first[:1] for each in compile_intervals(process))
    return Steps(
        graph=graph,
        steady=steps,
        steady_since_ns=steady[0].began_ns,
        warm_up=_warm_up(process, graph, settled),
        mean=sum(spent for spent, _ in blocks) / steps,
        blocks=tuple(spent / size for spent, size in blocks),
        block_size=blocks[0][1],
        first=tuple((end - begin) / 1e9 for begin, end in first),
        first_compiling=compiling / 1e9,
    )


def _overlap(one: Interval, other: Interval) -> int:
    return max(0, min(one[1], other[1]) - max(one[0], other[0]))


def _is_profiled(begin_ns: int, end_ns: int, window: ProfileWindow | None) -> bool:
    return window is not None and begin_ns < window.end_ns and end_ns > window.begin_ns


def _warm_up(process: Process, graph: Graph, settled: int) -> tuple[int, int]:
    """How many calls began before `settled`, of the graph and of its versions before a recompile."""
    counts = [
        (max(least, times is graph.times), max(most, times is graph.times))
        for times in _same_frame(process.graphs, graph)
        for least, most in [CallsBefore([times]).at(settled)]
    ]
    return sum(least for least, _ in counts), sum(most for _, most in counts)


def _same_frame(graphs: Iterable[Graph], graph: Graph) -> Iterable[CallTimes]:
    for other in graphs:
        is_same = other is graph or (
            other.compile_id is not None
            and graph.compile_id is not None
            and other.compile_id.frame == graph.compile_id.frame
            and other.compile_id.generation == graph.compile_id.generation
        )
        if is_same and other.times is not None:
            yield other.times


# The run time of each compiled graph: how often it is called, how long a call takes, how much is overhead.

# A call of a compiled graph costs about 10 us before the graph does anything (benchmarks/call_cost.py).
_OVERHEAD_BOUND_S = 20e-6
_OFTEN = 100
# On a busy machine calls may take this many times as long; a longer typical call is the graph's own work.
_HELD_UP = 5


@dataclass(frozen=True)
class GraphTime:
    """A graph of a process with the time of its calls.

    `share` is of the time in all graphs, including backward graphs and graphs inherited from a parent
    process.
    """

    process: Process
    graph: Graph
    share: float

    @property
    def times(self) -> CallTimes:
        """The calls of the forward graph."""
        assert self.graph.times is not None
        return self.graph.times

    @property
    def seconds(self) -> float:
        """The seconds in the graph and its backward."""
        return self.times.seconds + (self.graph.backward.seconds if self.graph.backward else 0.0)

    @property
    def has_device_time(self) -> bool:
        """Whether some calls of the graph or of its backward were timed on a GPU."""
        backward = self.graph.backward
        return bool(self.times.device_samples or (backward is not None and backward.device_samples))

    @property
    def typical(self) -> float | None:
        """The median seconds of a call."""
        return self.times.percentile(0.5)

    @property
    def undisturbed(self) -> float | None:
        """The seconds of a call on an idle machine, taken as the 10th percentile."""
        return self.times.percentile(0.1)

    @property
    def is_overhead_bound(self) -> bool:
        """Whether the graph is called often, and a call costs as much as the work that it does."""
        typical, undisturbed = self.typical, self.undisturbed
        if self.times.calls < _OFTEN or typical is None or undisturbed is None:
            return False
        is_small = undisturbed < _OVERHEAD_BOUND_S and typical < _HELD_UP * _OVERHEAD_BOUND_S
        return is_small or self.has_costlier_guards

    @property
    def has_costlier_guards(self) -> bool:
        """Whether evaluating the guards takes longer than the median call."""
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


def frame_text(graph: Graph, user_call_sites: UserCallSites) -> str:
    """A graph's frame and where it is: `step (train.py:3)`, `Sequential.forward (called at train.py:9)`.

    A frame of compiled autograd is in no file, so only its name is given.
    """
    if graph.frame_name is not None and graph.frame_place is None:
        return graph.frame_name
    call = user_call_sites.of(graph.compile_id, graph.frame_place)
    if call is not None:
        return f"{graph_frame(graph)} (called at {place(call.place)})"
    return place_in(graph)


def first_call(times: CallTimes) -> float | None:
    """The seconds of the first call, which may load, record or tune what later ones only use."""
    return times.early[0].seconds if times.early else None


def steady_mean(times: CallTimes) -> float | None:
    """The mean seconds of the calls after the first; None where there was no other."""
    first = first_call(times)
    if times.calls < 2 or first is None:
        return None
    return max(times.seconds - first, 0.0) / (times.calls - 1)
