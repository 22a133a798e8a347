"""Train a network while its activations are watched."""

import argparse

import torch
from network import Network, make_samples
from torch import nn
from watching import ActivationWatch


def train(model: nn.Module, inputs: torch.Tensor, targets: torch.Tensor, steps: int) -> list[float]:
    """The loss before each step."""
    predict = torch.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (predict(inputs) - targets).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=4)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    model = Network()
    watch = ActivationWatch(model)
    losses = train(model, *make_samples(48, given.seed), steps=given.steps)
    print(f"loss {losses[0]:.4f} at first, {losses[-1]:.4f} at last")
    print("\n".join(watch.report()))


if __name__ == "__main__":
    main()
