"""The repeating step of a run, found in the calls of its graphs: how long it takes, and since when.

A step is one call of a graph that is called once in each: of the graphs that are still called after the last
compile, the one whose number of calls goes (nearly) evenly into those of the graphs that take the most time.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import PurePath
from statistics import median

from dynamo_core.model import CallSample, CallTimes, Graph, Place, Process

_LEAST_CALLS = 4  # after the last compile; fewer are no repetition
_MOST_IN_A_STEP = 64  # calls of one graph
_NEARLY_ALL = 0.98  # of the time in graphs


@dataclass(frozen=True)
class Steps:
    """The steps of a process. A step begins with a call of `graph`.

    `warm_up` is how many began before the last compile had ended, from `warm_up[0]` to `warm_up[1]` where not
    every call was noted. `mean` is over `steady` steps; `blocks` are the means of `block_size` steps each,
    and the spread is theirs. `first` are the times of the first steps, one by one. All in seconds.
    """

    graph: Graph
    steady: int
    steady_since_ns: int
    warm_up: tuple[int, int]
    mean: float
    blocks: tuple[float, ...]
    block_size: int
    first: tuple[float, ...]

    @property
    def median(self) -> float:
        """Of the blocks."""
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


def _is_within(graph: Graph, process: Process, wanted: str) -> bool:
    module, _, function = wanted.rpartition(":")
    stack = [(frame.function, frame.place) for frame in process.callers.get(graph.compile_id, ())]
    stack.append((graph.frame_name or "", graph.frame_place))
    return any(
        fnmatchcase(name, function) and (not module or (place is not None and _is_module(place, module)))
        for name, place in stack
    )


def _is_module(place: Place, module: str) -> bool:
    """Whether a line may be in a module of this name; which file `__main__` is, the stack does not tell."""
    path = PurePath(place.file).with_suffix("")
    parts = path.parts[:-1] if path.name == "__init__" else path.parts
    wanted = tuple(module.split("."))
    return module == "__main__" or parts[-len(wanted) :] == wanted


def _steady_calls(times: CallTimes | None, settled: int) -> int:
    """How many calls began after `settled`: exactly where each is noted, else as far as the samples tell."""
    return 0 if times is None else times.calls - _calls_before(times, settled)[1]


def _calls_before(times: CallTimes, moment: int) -> tuple[int, int]:
    """The number of calls that began before a moment: at least, and at most."""
    noted = _noted(times)
    before = max((call.number for call in noted if call.began_ns <= moment), default=0)
    after = min((call.number for call in noted if call.began_ns > moment), default=times.calls + 1)
    return before, max(after - 1, before)


def _noted(times: CallTimes) -> list[CallSample]:
    """Every call that was noted one by one, in order."""
    calls = {call.number: call for call in (*times.early, *times.samples)}
    return [calls[number] for number in sorted(calls)]


def _called_once_a_step(graphs: list[Graph], settled: int) -> Graph | None:
    calls = {graph.number: _steady_calls(graph.times, settled) for graph in graphs}
    weight = {graph.number: graph.times.seconds if graph.times else 0.0 for graph in graphs}

    def covered(step: Graph) -> float:
        once = calls[step.number]
        return sum(weight[number] for number, count in calls.items() if _goes_evenly(once, count))

    most = max((covered(graph) for graph in graphs), default=0.0)
    fitting = [graph for graph in graphs if covered(graph) >= most * _NEARLY_ALL]
    return max(fitting, key=lambda graph: (calls[graph.number], -_first_call(graph)), default=None)


def _goes_evenly(once: int, count: int) -> bool:
    """Whether `count` calls are a whole number for each of `once` steps, but for the run's first and last."""
    each = round(count / once)
    return 1 <= each <= _MOST_IN_A_STEP and abs(count - each * once) <= max(each, 0.02 * count)


def _first_call(graph: Graph) -> int:
    times = graph.times
    return min((call.began_ns for call in _noted(times)), default=0) if times is not None else 0


def _steps(process: Process, graph: Graph, times: CallTimes, settled: int) -> Steps | None:
    noted = _noted(times)
    steady = [call for call in times.samples if call.began_ns > settled]
    if len(steady) < 2:
        return None
    blocks = [
        (after.began_ns - before.began_ns) / 1e9 / (after.number - before.number)
        for before, after in pairwise(steady)
    ]
    steps = steady[-1].number - steady[0].number
    return Steps(
        graph=graph,
        steady=steps,
        steady_since_ns=steady[0].began_ns,
        warm_up=_warm_up(process, graph, settled),
        mean=(steady[-1].began_ns - steady[0].began_ns) / 1e9 / steps,
        blocks=tuple(blocks),
        block_size=steady[1].number - steady[0].number,
        first=tuple(
            (after.began_ns - before.began_ns) / 1e9
            for before, after in pairwise(noted)
            if after.number == before.number + 1
        )[: len(times.early)],
    )


def _warm_up(process: Process, graph: Graph, settled: int) -> tuple[int, int]:
    """Calls before `settled` of the graph and of those that stood in its place, before a recompile."""
    counts = [_calls_before(times, settled) for times in _same_frame(process.graphs, graph)]
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
