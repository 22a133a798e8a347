"""Several threads that compute the same function, each on tensors of its own."""

import threading

import torch

THREADS = 4


def energy(position, momentum):
    return (torch.sin(position) ** 2 + 0.5 * momentum**2).sum()


def worker(index, results):
    generator = torch.Generator().manual_seed(index)
    total = 0.0
    for _ in range(10):
        position, momentum = torch.randn(2, 32, generator=generator)
        total += energy(position, momentum).item()
    results[index] = total


def main():
    results = [0.0] * THREADS
    threads = [threading.Thread(target=worker, args=(index, results)) for index in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for index, total in enumerate(results):
        print(f"thread {index}: {total:.4f}")


if __name__ == "__main__":
    main()
