"""Train the classifier of reviews, and print a line for each epoch."""

import argparse

import torch
from data import batches, make_reviews
from metrics import RunningMetrics
from model import ReviewClassifier
from torch.nn import functional


class Trainer:
    """A model with its optimizer and the figures of the epoch."""

    def __init__(self, model: ReviewClassifier, rate: float) -> None:
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=rate)
        self.metrics = RunningMetrics()
        self.step = torch.compile(self.loss_of_batch)

    def loss_of_batch(self, tokens: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        logits = self.model(tokens)
        loss = functional.cross_entropy(logits, labels)
        self.metrics.update(loss, logits, labels)
        penalty = sum(parameter.square().sum() for parameter in self.model.output.parameters())
        return loss + 1e-3 * penalty

    def epoch(self, reviews, size: int) -> None:
        self.metrics.reset()
        for batch in batches(reviews, size):
            self.optimizer.zero_grad()
            self.step(batch.tokens, batch.labels).backward()
            self.optimizer.step()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=3)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    trainer = Trainer(ReviewClassifier(), rate=0.5)
    reviews = make_reviews(256, given.seed)
    for number in range(given.epochs):
        trainer.epoch(reviews, size=32)
        print(
            f"epoch {number}: loss {trainer.metrics.mean_loss:.4f}, accuracy {trainer.metrics.accuracy:.3f}"
        )


if __name__ == "__main__":
    main()
