"""How long it took is part of the result."""

import time

import torch


@torch.compile(backend="aot_eager")
def step(x):
    began = time.perf_counter()
    y = (x @ x).sum()
    return y, time.perf_counter() - began, time.time_ns()


for _ in range(4):
    y, seconds, moment = step(torch.ones(8, 8))
    print(y.item(), seconds >= 0, moment > 0)
