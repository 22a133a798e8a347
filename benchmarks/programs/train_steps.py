"""Train a compiled model, three steps for each line on stdin."""

import torch
import torch.nn.functional as F
from serving import serve
from torch import nn

WARM_UP, STEPS = 50, 3
WIDTH, BATCH = 128, 512


def main() -> None:
    """Warm up, then serve."""
    torch.manual_seed(0)
    torch.set_num_threads(1)  # what is measured is work, not how two threads share two noisy cores
    layers = [layer for _ in range(4) for layer in (nn.Linear(WIDTH, WIDTH), nn.GELU())]
    model = torch.compile(nn.Sequential(*layers))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x, y = torch.randn(BATCH, WIDTH), torch.randn(BATCH, WIDTH)

    def step() -> None:
        """One step of training."""
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    for _ in range(WARM_UP):
        step()
    serve(step, STEPS)


if __name__ == "__main__":
    main()
