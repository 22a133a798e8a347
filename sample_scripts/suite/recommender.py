"""A recommender: bags of embeddings and numbers, their products, and a perceptron, trained on clicks."""

import torch
from _loops import train
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits

BATCH, TABLES, ROWS, WIDTH, NUMBERS = 128, 6, 1000, 16, 8


class Recommender(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(ROWS, WIDTH, mode="sum") for _ in range(TABLES))
        self.numbers = nn.Sequential(nn.Linear(NUMBERS, 32), nn.ReLU(), nn.Linear(32, WIDTH))
        pairs = (TABLES + 1) * TABLES // 2
        self.top = nn.Sequential(nn.Linear(WIDTH + pairs, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, numbers: torch.Tensor, bags: torch.Tensor) -> torch.Tensor:
        dense = self.numbers(numbers)
        each = torch.stack([dense, *(table(bags[i]) for i, table in enumerate(self.tables))], dim=1)
        row, column = torch.tril_indices(TABLES + 1, TABLES + 1, offset=-1).unbind()
        products = torch.bmm(each, each.transpose(1, 2))[:, row, column]
        return self.top(torch.cat([dense, products], dim=1)).squeeze(1)


torch.manual_seed(0)
numbers, bags = torch.randn(BATCH, NUMBERS), torch.randint(ROWS, (TABLES, BATCH, 5))
clicks = torch.randint(2, (BATCH,)).float()
train(Recommender(), lambda scores: binary_cross_entropy_with_logits(scores, clicks), numbers, bags)
