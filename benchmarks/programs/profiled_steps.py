"""Train a compiled model; given a file, with torch.profiler around ten steps, exported to it.

Prints the milliseconds of a step amid the profiled ones, and those of all steps after the first two.
"""

import sys
from statistics import median
from time import perf_counter

from torch.profiler import profile
from training import training_step

STEPS, BEGIN, PROFILED = 200, 3, 10
AMID = slice(BEGIN + 2, BEGIN + 8)  # both profilers are at work then, ours one step later or earlier


def main() -> None:
    """Train."""
    train = training_step()
    profiler = profile() if len(sys.argv) > 1 else None
    taken = []
    for step in range(STEPS):
        start = perf_counter()
        if profiler is not None and step == BEGIN:
            profiler.start()
        train()
        if profiler is not None and step == BEGIN + PROFILED:  # the first warms it up
            profiler.stop()
            profiler.export_chrome_trace(sys.argv[1])
        taken.append((perf_counter() - start) * 1e3)
    print(median(taken[AMID]), sum(taken[2:]))


if __name__ == "__main__":
    main()
