"""Train a compiled model; print the nanoseconds of CPU that a steady step takes, in the best block."""

from time import process_time_ns

import torch
import torch.nn.functional as F
from torch import nn

WARM_UP, BLOCKS, STEPS = 50, 60, 10


def main() -> None:
    """Warm up, then time blocks of steps."""
    torch.manual_seed(0)
    torch.set_num_threads(1)  # what is measured is work, not how two threads share two noisy cores
    width = 384
    layers = [layer for _ in range(4) for layer in (nn.Linear(width, width), nn.GELU())]
    model = torch.compile(nn.Sequential(*layers))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x, y = torch.randn(96, width), torch.randn(96, width)

    def step() -> None:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    for _ in range(WARM_UP):
        step()
    blocks = []
    for _ in range(BLOCKS):
        start = process_time_ns()
        for _ in range(STEPS):
            step()
        blocks.append((process_time_ns() - start) / STEPS)
    print(min(blocks))


if __name__ == "__main__":
    main()
