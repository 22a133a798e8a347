"""A bag of embedded words with one hidden layer."""

import torch
from data import VOCABULARY
from torch import nn


class ReviewClassifier(nn.Module):
    """Gives two logits for each review."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, width)
        self.attention = nn.Linear(width, 1)
        self.hidden = nn.Linear(width, width)
        self.output = nn.Linear(width, 2)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        words = self.embedding(tokens)
        weights = torch.softmax(self.attention(words), dim=1)
        pooled = (weights * words).sum(dim=1)
        return self.output(torch.relu(self.hidden(pooled)))
