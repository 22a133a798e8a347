"""Calls come from a pool of threads, which count them under a lock."""

import threading
from concurrent.futures import ThreadPoolExecutor

import torch

lock = threading.Lock()
done = []


@torch.compile
def step(x):
    return (x * 2).sum()


def work(k):
    result = float(step(torch.full((4,), float(k))))
    with lock:
        done.append(result)


step(torch.ones(4))
with ThreadPoolExecutor(3) as pool:
    list(pool.map(work, range(9)))
print(sorted(done))
