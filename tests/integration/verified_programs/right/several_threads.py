"""Threads call the same function."""

import threading

import torch


@torch.compile(backend="aot_eager")
def step(x, number):
    return (x * number).sum()


step(torch.ones(4), 0)
results = {}


def work(number):
    results[number] = step(torch.ones(4), number).item()


threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(results.items()))
