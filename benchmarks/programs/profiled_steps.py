"""Train a compiled model; given a file, with torch.profiler around ten steps, exported to it.

Prints the milliseconds of a step amid the profiled ones, and those of all steps after the first two.
"""

import sys
from statistics import median
from time import perf_counter

import torch
import torch.nn.functional as F
from torch import nn
from torch.profiler import profile

STEPS, BEGIN, PROFILED = 200, 3, 10
AMID = slice(BEGIN + 2, BEGIN + 8)  # both profilers are at work then, ours one step later or earlier
WIDTH, BATCH = 128, 512


def main() -> None:
    """Train."""
    torch.manual_seed(0)
    torch.set_num_threads(1)  # what is measured is work, not how two threads share two noisy cores
    layers = [layer for _ in range(4) for layer in (nn.Linear(WIDTH, WIDTH), nn.GELU())]
    model = torch.compile(nn.Sequential(*layers))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x, y = torch.randn(BATCH, WIDTH), torch.randn(BATCH, WIDTH)
    profiler = profile() if len(sys.argv) > 1 else None
    taken = []
    for step in range(STEPS):
        start = perf_counter()
        if profiler is not None and step == BEGIN:
            profiler.start()
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if profiler is not None and step == BEGIN + PROFILED:  # the first warms it up
            profiler.stop()
            profiler.export_chrome_trace(sys.argv[1])
        taken.append((perf_counter() - start) * 1e3)
    print(median(taken[AMID]), sum(taken[2:]))


if __name__ == "__main__":
    main()
