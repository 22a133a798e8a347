"""Which processes are the ranks, and what each is in the middle of."""

from collections.abc import Iterable, Mapping, Sequence

from ...model import Compiling, Graph, Process, Recording
from ...shared.quick_dataclass import dataclass
from .launches import Newest, launch_of, newest


@dataclass(frozen=True)
class Inside:
    """What a rank was in the middle of when its recording ends: a call of a graph, or a compile.

    `since_ns` is in nanoseconds since the epoch.
    """

    since_ns: int
    graph: Graph | None = None
    is_backward: bool = False
    compiling: Compiling | None = None


def ranks_of(recording: Recording) -> dict[int, Process]:
    """The process of each rank, in the order of the ranks: of the last job, and of the last attempt at it."""
    return {rank: recording.processes[at] for rank, at in newest_launch(recording).ranks.items()}


def newest_launch(recording: Recording) -> Newest:
    """Which of the processes are the ranks, by their index, and what else of ranks there is."""
    return newest([*map(launch_of, recording.processes)])


def every(ranks: Mapping[int, Process], some: Iterable[int]) -> tuple[int, ...]:
    """These ranks, and those that their processes stand for."""
    return tuple(sorted(each for rank in some for each in ranks[rank].ranks))


def inside_of(process: Process) -> Inside | None:
    """The innermost thing that began last and did not end; None where nothing did, or it was not recorded."""
    if process.end is not None:
        return None
    found = [
        *(Inside(each.backend_ns or each.began_ns, compiling=each) for each in process.compiling),
        *_calls(process.graphs),
    ]
    return max(found, key=lambda inside: inside.since_ns, default=None)


def _calls(graphs: Iterable[Graph]) -> Iterable[Inside]:
    for graph in graphs:
        for times, is_backward in ((graph.times, False), (graph.backward, True)):
            if times is not None and times.running_since_ns is not None:
                yield Inside(times.running_since_ns, graph, is_backward)


def named(ranks: Sequence[int]) -> str:
    """`rank 3`, `ranks 0-6 and 9`."""
    runs: list[list[int]] = []
    for rank in sorted(ranks):
        if runs and runs[-1][-1] == rank - 1:
            runs[-1].append(rank)
        else:
            runs.append([rank])
    texts = [text for run in runs for text in ([f"{run[0]}-{run[-1]}"] if len(run) > 2 else map(str, run))]
    joined = texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
    return f"rank{'s' if len(ranks) > 1 else ''} {joined}"
