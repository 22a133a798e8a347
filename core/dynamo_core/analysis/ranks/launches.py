"""Which processes of a folder are the ranks to compare: jobs and attempts are kept apart."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ...model import Process
from ..words import number


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
