"""Requests are batched and answered by coroutines and by a pool of threads that share a model."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).eval()


@torch.inference_mode()
def predict(batch):
    return model(batch).softmax(-1)


async def answer(queue, results):
    while (item := await queue.get()) is not None:
        index, x = item
        results[index] = predict(x.unsqueeze(0))[0].tolist()
        await asyncio.sleep(0)


async def serve(requests):
    queue, results = asyncio.Queue(), {}
    workers = [asyncio.create_task(answer(queue, results)) for _ in range(2)]
    for item in enumerate(requests):
        await queue.put(item)
    for _ in workers:
        await queue.put(None)
    await asyncio.gather(*workers)
    return results


requests = list(torch.randn(4, 3))
print(sorted(asyncio.run(serve(requests)).items()))
with ThreadPoolExecutor(3) as pool:
    for out in pool.map(predict, [torch.stack(requests[:n]) for n in (1, 2, 3, 4)]):
        print(tuple(out.shape), out.sum(0).tolist(), out.is_inference())
print(torch.is_inference_mode_enabled())
