"""What several processes spent, as seconds of the run that they were part of."""

from collections import defaultdict
from collections.abc import Iterable

from ...model import Process


def in_the_run(spent: Iterable[tuple[Process, float]]) -> float:
    """Of the ranks of a job, which run at the same time, the largest; everything else is added up.

    Any other process may have been waited for: a script starts the next one when the last has ended, and a
    parent does nothing while its children work. Only the sum is then surely no less than what can be saved.
    For the same reason a rank's forked workers, and what had the same rank before it in the same attempt, add
    to that rank, and each attempt at a job to the one before.
    """
    apart = 0.0
    jobs: defaultdict[object, defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
    for process, seconds in spent:
        if process.rank is None:
            apart += seconds
        else:
            launch = process.info.job, tuple(process.info.attempt or ())
            jobs[launch][process.rank] += seconds
    return apart + sum(max(of_rank.values()) for of_rank in jobs.values())
