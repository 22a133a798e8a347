"""Train the detector on a stream of transactions, and print how well it does."""

import argparse

import torch
from detector import Detector
from objective import confidence_penalty, focal_loss
from transactions import NO_LABEL, Transactions, draw


def objective(model: Detector, features: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    logits = model(features)
    return focal_loss(logits, labels) + confidence_penalty(logits)


@torch.no_grad()
def accuracy(model: Detector, seen: Transactions) -> float:
    """The share of labelled transactions that the model is right about."""
    is_known = seen.labels != NO_LABEL
    is_right = (model(seen.features) > 0).long() == seen.labels
    return is_right[is_known].float().mean().item()


def train(model: Detector, steps: int, generator: torch.Generator, size: int = 64) -> list[float]:
    """Train on new transactions at each step; the losses."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    compiled = torch.compile(objective)
    losses = []
    for _ in range(steps):
        batch = draw(size, generator)
        optimizer.zero_grad()
        loss = compiled(model, batch.features, batch.labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=20)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    generator = torch.Generator().manual_seed(given.seed)
    model = Detector()
    for number, loss in enumerate(train(model, given.steps, generator)):
        if number % 4 == 0:
            print(f"step {number}: loss {loss:.4f}")
    print(f"accuracy {accuracy(model, draw(1000, generator)):.3f}")


if __name__ == "__main__":
    main()
