"""A small compiled model, and the step that trains it."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, BATCH = 128, 512


def training_step(around: Callable[[nn.Module], nn.Module] = lambda model: model) -> Callable[[], None]:
    """A function that does one step of training; it compiles when it is first called.

    What is compiled is the model with something `around` it, DistributedDataParallel for instance.
    """
    torch.manual_seed(0)
    torch.set_num_threads(1)  # what is measured is work, not how two threads share two noisy cores
    layers = [layer for _ in range(4) for layer in (nn.Linear(WIDTH, WIDTH), nn.GELU())]
    model = torch.compile(around(nn.Sequential(*layers)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x, y = torch.randn(BATCH, WIDTH), torch.randn(BATCH, WIDTH)

    def step() -> None:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step
