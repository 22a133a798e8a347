"""Train a regressor with quantised weights, and print its loss."""

import argparse

import torch
from network import Regressor
from rounding import RoundToGrid
from torch.nn import functional


def make_samples(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs, and a smooth function of them."""
    inputs = torch.rand(count, 3, generator=torch.Generator().manual_seed(seed)) * 2 - 1
    return inputs, torch.sin(2 * inputs[:, 0]) * inputs[:, 1] + 0.3 * inputs[:, 2]


def fit(model: Regressor, inputs: torch.Tensor, targets: torch.Tensor, steps: int) -> list[float]:
    """The loss before each step."""
    predict = torch.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = functional.mse_loss(predict(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=6)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    losses = fit(Regressor(3), *make_samples(64, given.seed), steps=given.steps)
    for number, loss in enumerate(losses):
        print(f"step {number}: loss {loss:.4f}")
    print(f"tensors rounded: {RoundToGrid.roundings}")


if __name__ == "__main__":
    main()
