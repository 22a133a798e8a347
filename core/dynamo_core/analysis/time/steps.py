"""The repeating step of a run, found in the calls of its graphs: how long it takes, and since when.

A step is one call of a graph that is called once in each: of the graphs that are called at even intervals for
most of the time after the last compile, the one with the most calls. Compiled autograd's graphs, which stand
for no function of the program, are second to any other.
"""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import PurePath
from statistics import median

from ...model import CallTimes, Graph, Place, Process, ProfileWindow
from ...shared.errors import NothingSelected
from ...shared.near_names import did_you_mean
from ...shared.quick_dataclass import dataclass
from .calls_before import CallsBefore, noted_calls
from .wall import Interval, compile_intervals

_LEAST_CALLS = 4  # after the last compile; fewer are no repetition


@dataclass(frozen=True)
class Steps:
    """The steps of a process. A step begins with a call of `graph`; times are in seconds.

    `warm_up` is how many began before the last compile had ended, and the graph's first call, which loads
    what later ones use: from `warm_up[0]` to `warm_up[1]` where not every call was noted. `mean` is over
    `steady` steps; `blocks` are the means of `block_size` steps each, and the spread is theirs: those that
    overlap a window under torch.profiler, which slows them down, are in neither. `first` are the times of the
    first steps, one by one; in `first_compiling` of the very first, something was compiled.
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
        return median(self.blocks)

    @property
    def spread(self) -> tuple[float, float]:
        """From the fastest to the slowest block."""
        return min(self.blocks), max(self.blocks)


def last_compile_ns(process: Process) -> int:
    """When the last compile, of a frame or of a backward, had ended; 0 if nothing was compiled."""
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
    """Whether any graph, however often it is called, is within a function that `wanted` names."""
    process = process.entire
    return any(_is_within(graph, process, wanted) for graph in process.graphs)


def check_step(processes: Sequence[Process], wanted: str | None) -> None:
    """NothingSelected where a step was named, and no graph of any process is within it."""
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
    """Whether a line may be in a module of this name; which file `__main__` is, the stack does not tell."""
    path = PurePath(place.file).with_suffix("")
    parts = path.parts[:-1] if path.name == "__init__" else path.parts
    wanted = tuple(module.split("."))
    return module == "__main__" or parts[-len(wanted) :] == wanted


def _steady_calls(times: CallTimes | None, settled: int) -> int:
    """How many calls began after `settled`: exactly where each is noted, else as far as the samples tell."""
    return 0 if times is None else times.calls - CallsBefore([times]).at(settled)[1]


def _called_once_a_step(graphs: list[Graph], settled: int) -> Graph | None:
    own = [graph for graph in graphs if graph.compile_id is None or graph.compile_id.autograd is None]
    lasting = _lasting(graphs, settled)
    return max(
        _regular(_lasting(own, settled), settled) or _regular(lasting, settled) or lasting,
        key=lambda graph: (_steady_calls(graph.times, settled), -_first_call(graph)),
        default=None,
    )


def _lasting(graphs: list[Graph], settled: int) -> list[Graph]:
    longest = max((_span(graph.times, settled) for graph in graphs), default=0)
    return [graph for graph in graphs if 2 * _span(graph.times, settled) >= longest]


def _regular(graphs: list[Graph], settled: int) -> list[Graph]:
    return [graph for graph in graphs if _is_regular(graph.times, settled)]


def _span(times: CallTimes | None, settled: int) -> int:
    steady = [call.began_ns for call in noted_calls(times) if call.began_ns > settled]
    return max(steady, default=0) - min(steady, default=0)


def _is_regular(times: CallTimes | None, settled: int) -> bool:
    """Whether most of the time passes in intervals of about the same length.

    A layer that is called twelve times a step is not: its calls come in bursts.
    """
    pairs = list(pairwise(call for call in noted_calls(times) if call.began_ns > settled))
    next_to_each_other = [pair for pair in pairs if pair[1].number == pair[0].number + 1]
    chosen = next_to_each_other if len(next_to_each_other) >= _LEAST_CALLS else pairs
    intervals = [(b.began_ns - a.began_ns) / (b.number - a.number) for a, b in chosen]
    typical = median(intervals) if intervals else 0.0
    alike = sum(interval for interval in intervals if typical / 2 <= interval <= typical * 2)
    return 2 * alike >= sum(intervals)


def _first_call(graph: Graph) -> int:
    return min((call.began_ns for call in noted_calls(graph.times)), default=0)


def _steps(process: Process, graph: Graph, times: CallTimes, settled: int) -> Steps | None:
    noted = noted_calls(times)
    steady = [call for call in times.samples if call.began_ns > settled and call.number > 1]
    blocks = [
        ((after.began_ns - before.began_ns) / 1e9, after.number - before.number)
        for before, after in pairwise(steady)
        if not _is_profiled(before.began_ns, after.began_ns, process.window)
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
    """Calls before `settled` of the graph and of those that stood in its place, before a recompile."""
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
