"""A recurrent encoder: the state after the last word stands for the dialogue."""

import torch
from torch import nn
from torch.nn import functional


class Cell(nn.Module):
    """A minimal gated unit."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gate = nn.Linear(2 * width, width)
        self.candidate = nn.Linear(2 * width, width)

    def forward(self, word: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        gate = torch.sigmoid(self.gate(torch.cat([word, state], dim=1)))
        candidate = torch.tanh(self.candidate(torch.cat([word, gate * state], dim=1)))
        return (1 - gate) * state + gate * candidate


class Encoder(nn.Module):
    """Unit vectors for dialogues of any length up to the padded one."""

    def __init__(self, words: int, width: int = 24) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.cell = Cell(width)
        self.projection = nn.Linear(width, width)

    def forward(self, words: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        embedded = self.embedding(words)
        state = embedded.new_zeros(len(words), embedded.shape[2])
        for position in range(int(lengths.max())):
            following = self.cell(embedded[:, position], state)
            is_word = (position < lengths).unsqueeze(1)
            state = torch.where(is_word, following, state)
        return functional.normalize(self.projection(state), dim=1)
