"""Train a model that does not call torch.compile, three steps for each line on stdin."""

import sys
from typing import Any

import torch
import torch.nn.functional as F
from serving import serve
from torch import nn

WARM_UP, STEPS, WIDTH, BATCH = 50, 3, 128, 512


class Model(nn.Module):
    """Four layers; `kind` says whether a second output goes unused, or whether it draws random numbers."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for _ in range(4):
            layers += [nn.Linear(WIDTH, WIDTH), nn.GELU()]
            if kind == "random":
                layers += [nn.BatchNorm1d(WIDTH), nn.Dropout(0.1)]
        self.body, self.head = nn.Sequential(*layers), nn.Linear(WIDTH, 4)
        self.kind = kind

    def forward(self, x: torch.Tensor) -> Any:
        hidden = self.body(x)
        return (hidden, self.head(hidden)) if self.kind == "unused" else hidden


def main() -> None:
    """Warm up, then serve."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    kind = sys.argv[1]
    model = Model(kind)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x, y = torch.randn(BATCH, WIDTH), torch.randn(BATCH, WIDTH)

    def step() -> None:
        output = model(x)
        loss = F.mse_loss(output[0] if kind == "unused" else output, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    for _ in range(WARM_UP):
        step()
    serve(step, STEPS)


if __name__ == "__main__":
    main()
