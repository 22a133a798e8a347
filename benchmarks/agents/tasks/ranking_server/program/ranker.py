"""The model that scores items for a user."""

import torch
from catalogue import FEATURES, MARKETS
from torch import nn


class Ranker(nn.Module):
    """Scores by taste, corrected by what the user's market thinks of price and delivery."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.items = nn.Sequential(nn.Linear(FEATURES, width), nn.GELU(), nn.Linear(width, width))
        self.user = nn.Linear(FEATURES, width)
        self.scale = width**-0.5

    def forward(self, user: torch.Tensor, items: torch.Tensor, country: str) -> torch.Tensor:
        market = MARKETS[country]
        taste = self.items(items) @ self.user(user) * self.scale
        price, days = items[:, 0], items[:, 1]
        return taste - market.price * price - market.delivery * days + market.offset
