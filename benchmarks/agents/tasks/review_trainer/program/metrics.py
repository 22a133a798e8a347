"""Running figures of an epoch."""

import torch


class RunningMetrics:
    """Mean loss and accuracy of the batches that were seen since the last reset."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.losses: list[float] = []
        self.right = 0
        self.seen = 0

    def update(self, loss: torch.Tensor, logits: torch.Tensor, labels: torch.Tensor) -> None:
        self.losses.append(loss.detach().item())
        self.right += (logits.argmax(dim=1) == labels).sum().item()
        self.seen += len(labels)

    @property
    def mean_loss(self) -> float:
        return sum(self.losses) / max(1, len(self.losses))

    @property
    def accuracy(self) -> float:
        return self.right / max(1, self.seen)
