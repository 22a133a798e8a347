"""Which processes are the ranks, and what each is in the middle of."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from ...model import Compiling, Graph, Place, Process, Recording
from ...shared.quick_dataclass import dataclass
from ..words import number

# Which processes of a folder are the ranks to compare: jobs and attempts are kept apart.


class Launch(NamedTuple):
    """What a launcher said of a process; `unsure` is how sure its rank is (`shared/launchers.py`)."""

    job: str | None
    attempt: tuple[int, ...]
    rank: int | None
    unsure: int
    host: str | None
    parent: int | None
    started_ns: int
    forked: bool


class Newest(NamedTuple):
    """Of the launches given, the index of each rank's, and what was left out, in words."""

    ranks: dict[int, int]
    left_out: tuple[str, ...]


def launch_of(process: Process) -> Launch:
    """torch's own word of a rank, in its trace, is as sure as torchrun's."""
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


def newest(launches: Sequence[Launch]) -> Newest:
    """The ranks of the last job, and of the last attempt at it. Workers that a rank forked are not it.

    Where nothing names a process's job, those on a host that have the same parent are of one. Of a rank that
    was started again all the same, the last process is.
    """
    jobs: dict[Hashable, list[int]] = {}
    for at, launch in enumerate(launches):
        if launch.rank is not None and not launch.forked:
            jobs.setdefault(launch.job, []).append(at)
    if not jobs:
        return Newest({}, ())
    last_job = max(jobs.values(), key=lambda members: max(launches[at].started_ns for at in members))
    surest = min(launches[at].unsure for at in last_job)
    members = sorted(
        (at for at in last_job if launches[at].unsure == surest), key=lambda at: launches[at].started_ns
    )
    last_attempt = max(launches[at].attempt for at in members)
    last_parent = {launches[at].host: launches[at].parent for at in members}
    ranks: dict[int, int] = {}
    for at in members:
        launch = launches[at]
        is_of_last = launch.job is not None or launch.parent == last_parent[launch.host]
        if launch.rank is not None and launch.attempt == last_attempt and is_of_last:
            ranks[launch.rank] = at
    shown = set(ranks.values())
    earlier = Counter(launches[at].attempt for at in members if at not in shown)
    return Newest(dict(sorted(ranks.items())), tuple(_left_out(len(jobs) - 1, earlier, last_attempt)))


def _left_out(jobs: int, earlier: Mapping[tuple[int, ...], int], last: tuple[int, ...]) -> Iterator[str]:
    if jobs:
        yield f"{number(jobs, 'earlier job')} in the same folder"
    for attempt, count in sorted(earlier.items()):
        processes = number(count, "process", "processes")
        if attempt == last:
            yield f"{processes} that had the same ranks earlier"
        else:
            yield f"an earlier attempt at the job ({_words(attempt, last)}, {processes})"


def _words(attempt: tuple[int, ...], last: tuple[int, ...]) -> str:
    """By torchrun's count, and by the scheduler's where that is another than the last one's."""
    is_requeued = len(attempt) > 1 and attempt[:-1] != last[:-1]
    return f"requeue {attempt[0]}, restart {attempt[-1]}" if is_requeued else f"restart {sum(attempt[-1:])}"


# Which processes are the ranks, and what each is in the middle of.


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


# What ranks did beside each other: a step of each, and those that did the same together.


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
    """One thing that a rank did: the same as another rank's where `key` is. `at_ns` is when, by its clock."""

    key: Hashable
    what: str
    place: Place | None = None
    graph: int | None = None
    at_ns: int | None = None


NOTHING = Step(None, "nothing more was recorded")


def sides(steps: Mapping[int, Step]) -> tuple[Side, ...]:
    """Ranks that did the same together, those that most did first."""
    alike: dict[Hashable, list[int]] = {}
    for rank, step in steps.items():
        alike.setdefault(step.key, []).append(rank)
    groups = sorted(alike.values(), key=lambda group: (-len(group), group))
    return tuple(
        Side(tuple(group), steps[group[0]].what, steps[group[0]].place, steps[group[0]].graph)
        for group in groups
    )


def ordinal(at: int) -> str:
    """`1st`, `2nd`, of an index from 0."""
    count = at + 1
    ending = {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th") if count % 100 not in (11, 12, 13) else "th"
    return f"{count}{ending}"
