"""What a measured program does after its warm-up: a block of work for each line on stdin."""

import sys
from collections.abc import Callable
from time import process_time_ns


def serve(work: Callable[[], object], times: int) -> None:
    """For each line, do `work` so many `times` and print the nanoseconds of CPU that each took on average."""
    for _ in sys.stdin:
        start = process_time_ns()
        for _ in range(times):
            work()
        print((process_time_ns() - start) / times, flush=True)
