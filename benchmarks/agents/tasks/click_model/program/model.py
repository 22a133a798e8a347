"""A model of the probability that an advertisement is clicked."""

import torch
from features import ROWS, crossed, row_of
from torch import nn


class ClickModel(nn.Module):
    """Sums embedded features of the page, and compares them with the advertisements."""

    def __init__(self, columns: list[str], width: int = 12) -> None:
        super().__init__()
        self.columns = columns
        self.table = nn.Embedding(ROWS, width)
        self.hidden = nn.Linear(width, width)
        self.advert = nn.Linear(6, width)

    def forward(self, values: torch.Tensor, adverts: torch.Tensor) -> torch.Tensor:
        """Probabilities of each advert, by the weights of this page's columns."""
        names = crossed(self.columns)
        rows = torch.tensor([row_of(name) for name in names])
        weights = torch.cat([values, values[1:] * values[:-1]])
        page = torch.relu(self.hidden((self.table(rows) * weights[:, None]).sum(dim=0)))
        return torch.sigmoid(self.advert(adverts) @ page)
