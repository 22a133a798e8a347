"""An LSTM of two layers over a short sequence, with a classifier of its last state."""

import torch
from _loops import infer
from torch import nn


class Tagger(nn.Module):
    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.embedding = nn.Embedding(500, width)
        self.lstm = nn.LSTM(width, width, num_layers=2, batch_first=True)
        self.head = nn.Linear(width, 5)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        states, _ = self.lstm(self.embedding(words))
        return self.head(torch.tanh(states[:, -1]))


torch.manual_seed(0)
infer(Tagger(), torch.randint(500, (16, 24)))
