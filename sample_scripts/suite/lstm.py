"""An LSTM cell along a short sequence, with a classifier of its last state."""

import torch
from _loops import infer
from torch import nn

WIDTH, WORDS, LENGTH, BATCH = 64, 500, 12, 16


class Tagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.cell = nn.LSTMCell(WIDTH, WIDTH)  # nn.LSTM is one that Dynamo leaves to eager
        self.head = nn.Linear(WIDTH, 5)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        hidden = carried = torch.zeros(len(words), WIDTH)
        for word in self.embedding(words).unbind(1):
            hidden, carried = self.cell(word, (hidden, carried))
        return self.head(torch.tanh(hidden))


torch.manual_seed(0)
infer(Tagger(), torch.randint(WORDS, (BATCH, LENGTH)))
