"""What a measured program does after its warm-up: a block of work for each line on stdin."""

import sys
from collections.abc import Callable
from time import perf_counter_ns, process_time_ns


def serve(work: Callable[[], object], times: int) -> None:
    """For each line, do `work` so many `times` and print the nanoseconds of CPU that each took on average."""
    _serve(work, times, process_time_ns)


def serve_wall_time(work: Callable[[], object], times: int) -> None:
    """The same, in nanoseconds of wall time: for sides that use the cores differently."""
    _serve(work, times, perf_counter_ns)


def _serve(work: Callable[[], object], times: int, clock: Callable[[], int]) -> None:
    for _ in sys.stdin:
        start = clock()
        for _ in range(times):
            work()
        print((clock() - start) / times, flush=True)
