"""Which processes are the ranks to compare, what each is inside of, and how differences are grouped."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from ...model import Compiling, Graph, Place, Process, Recording
from ...shared.quick_dataclass import dataclass
from ..words import number


class Launch(NamedTuple):
    """How a process was launched; `unsure` is how uncertain its rank is (`shared/launchers.py`)."""

    job: str | None
    attempt: tuple[int, ...]
    rank: int | None
    unsure: int
    host: str | None
    parent: int | None
    started_ns: int
    forked: bool


class SelectedRanks(NamedTuple):
    """The index of the launch of each rank among the given launches, and what was left out, in words."""

    ranks: dict[int, int]
    left_out: tuple[str, ...]


def launch_of(process: Process) -> Launch:
    """How a process was launched; a rank that torch's trace names is as certain as one set by torchrun."""
    info = process.info
    return Launch(
        info.job,
        tuple(info.attempt or ()),
        process.rank,
        info.rank_unsure or 0 if info.rank == process.rank else 0,
        info.host,
        info.ppid,
        info.started_ns or 0,
        info.forked is True,
    )


def select_ranks(launches: Sequence[Launch]) -> SelectedRanks:
    """The ranks of the last job, and of the last attempt at it; workers that a rank forked are no ranks.

    Processes without a job name belong to one job if they have the same host and parent. If a rank was
    started more than once in the same attempt, the last process counts.
    """
    jobs: dict[Hashable, list[int]] = {}
    for index, launch in enumerate(launches):
        if launch.rank is not None and not launch.forked:
            jobs.setdefault(launch.job, []).append(index)
    if not jobs:
        return SelectedRanks({}, ())
    last_job = max(jobs.values(), key=lambda members: max(launches[index].started_ns for index in members))
    surest = min(launches[index].unsure for index in last_job)
    members = sorted(
        (index for index in last_job if launches[index].unsure == surest),
        key=lambda index: launches[index].started_ns,
    )
    last_attempt = max(launches[index].attempt for index in members)
    last_parent = {launches[index].host: launches[index].parent for index in members}
    ranks: dict[int, int] = {}
    for index in members:
        launch = launches[index]
        is_of_last_job = launch.job is not None or launch.parent == last_parent[launch.host]
        if launch.rank is not None and launch.attempt == last_attempt and is_of_last_job:
            ranks[launch.rank] = index
    shown = set(ranks.values())
    earlier = Counter(launches[index].attempt for index in members if index not in shown)
    return SelectedRanks(dict(sorted(ranks.items())), tuple(_left_out(len(jobs) - 1, earlier, last_attempt)))


def _left_out(jobs: int, earlier: Mapping[tuple[int, ...], int], last: tuple[int, ...]) -> Iterator[str]:
    if jobs:
        yield f"{number(jobs, 'earlier job')} in the same folder"
    for attempt, count in sorted(earlier.items()):
        processes = number(count, "process", "processes")
        if attempt == last:
            yield f"{processes} that had the same ranks earlier"
        else:
            yield f"an earlier attempt at the job ({_attempt_in_words(attempt, last)}, {processes})"


def _attempt_in_words(attempt: tuple[int, ...], last: tuple[int, ...]) -> str:
    """The attempt by torchrun's restart count, and by the scheduler's requeue count if that differs."""
    is_requeued = len(attempt) > 1 and attempt[:-1] != last[:-1]
    return f"requeue {attempt[0]}, restart {attempt[-1]}" if is_requeued else f"restart {sum(attempt[-1:])}"


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
    """The process of each rank, in the order of the ranks, of the last attempt at the last job."""
    return {rank: recording.processes[at] for rank, at in newest_launch(recording).ranks.items()}


def newest_launch(recording: Recording) -> SelectedRanks:
    """The index of the process of each rank of the last attempt at the last job, and what was left out."""
    return select_ranks([*map(launch_of, recording.processes)])


def with_equivalents(ranks: Mapping[int, Process], some: Iterable[int]) -> tuple[int, ...]:
    """The given ranks, and the equivalent ranks that their processes represent."""
    return tuple(sorted(each for rank in some for each in ranks[rank].ranks))


def inside_of(process: Process) -> Inside | None:
    """The call or compile that began last and did not end; None if there is none, or none was recorded."""
    if process.runtime.end is not None:
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


def ranks_in_words(ranks: Sequence[int]) -> str:
    """The numbers of ranks as `rank 3`, `ranks 0-6 and 9`."""
    runs: list[list[int]] = []
    for rank in sorted(ranks):
        if runs and runs[-1][-1] == rank - 1:
            runs[-1].append(rank)
        else:
            runs.append([rank])
    texts = [text for run in runs for text in ([f"{run[0]}-{run[-1]}"] if len(run) > 2 else map(str, run))]
    numbers = texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
    return f"rank{'s' if len(ranks) > 1 else ''} {numbers}"


Subject = Literal[
    "settings", "collectives", "graphs", "graph breaks", "recompiles", "caches", "calls of collectives"
]


@dataclass(frozen=True)
class Side:
    """What these ranks did, and the line of the program where they did it."""

    ranks: tuple[int, ...]
    what: str
    place: Place | None = None
    graph: int | None = None


@dataclass(frozen=True)
class Difference:
    """The first thing of a subject in which the ranks differ; each side is what some of them did."""

    subject: Subject
    title: str
    sides: tuple[Side, ...]


@dataclass(frozen=True)
class Step:
    """One thing that a rank did; the steps of two ranks agree if their keys do. `at_ns` is by its clock."""

    key: Hashable
    what: str
    place: Place | None = None
    graph: int | None = None
    at_ns: int | None = None


NOTHING = Step(None, "nothing more was recorded")


def sides(steps: Mapping[int, Step]) -> tuple[Side, ...]:
    """The ranks grouped by what they did, the largest group first."""
    by_key: dict[Hashable, list[int]] = {}
    for rank, step in steps.items():
        by_key.setdefault(step.key, []).append(rank)
    groups = sorted(by_key.values(), key=lambda group: (-len(group), group))
    return tuple(
        Side(tuple(group), steps[group[0]].what, steps[group[0]].place, steps[group[0]].graph)
        for group in groups
    )


def ordinal(index: int) -> str:
    """The ordinal number of an index from 0: `1st`, `2nd`."""
    count = index + 1
    ending = {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th") if count % 100 not in (11, 12, 13) else "th"
    return f"{count}{ending}"
