"""Two spawned processes, each of which compiles a function for itself and sends back a number."""

import torch
import torch.multiprocessing as mp

WORKERS = 2


def polynomial(x):
    return (1 + x * (2 + x * 3)).sum()


def worker(rank, queue):
    torch.manual_seed(rank)
    compiled = torch.compile(polynomial)
    queue.put((rank, compiled(torch.rand(64)).item()))


def main():
    queue = mp.get_context("spawn").SimpleQueue()
    mp.spawn(worker, args=(queue,), nprocs=WORKERS)
    for rank, value in sorted(queue.get() for _ in range(WORKERS)):
        print(f"worker {rank}: {value:.4f}")


if __name__ == "__main__":
    main()
