"""Tasks of one thread take turns between the calls."""

import asyncio

import torch

order = []


@torch.compile(backend="aot_eager")
def step(x, name):
    order.append(name)
    return x * len(order)


async def work(name):
    total = 0.0
    for _ in range(3):
        total += step(torch.ones(2), name).sum().item()
        await asyncio.sleep(0)
    return total


async def main():
    print(await asyncio.gather(*(work(name) for name in "ab")))


asyncio.run(main())
print("".join(order))
