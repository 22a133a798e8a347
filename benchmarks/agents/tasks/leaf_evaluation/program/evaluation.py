"""Mean loss and accuracy of a classifier."""

from dataclasses import dataclass

import torch
from leaves import Leaves, batches
from torch import nn


@dataclass(frozen=True)
class Score:
    """Figures over all leaves."""

    loss: float
    accuracy: float
    leaves: int


class Evaluation:
    """Goes through leaves in batches."""

    def __init__(self, model: nn.Module, batch_size: int = 16) -> None:
        self.predict = torch.compile(model.eval())
        self.batch_size = batch_size

    @torch.no_grad()
    def run(self, leaves: Leaves) -> Score:
        loss = right = 0.0
        for batch in batches(leaves, self.batch_size):
            predicted = self.predict(batch.images)
            loss -= float(predicted.gather(1, batch.species[:, None]).sum())
            right += int((predicted.argmax(dim=1) == batch.species).sum())
        return Score(loss / len(leaves), right / len(leaves), len(leaves))
