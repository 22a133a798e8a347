"""A recursive network for formulas."""

import torch
from formulas import OPERATORS, VARIABLES, Formula
from torch import nn


class FormulaEncoder(nn.Module):
    """Gives a vector for each formula, by the vectors of its parts."""

    def __init__(self, width: int = 12) -> None:
        super().__init__()
        self.places = {symbol: place for place, symbol in enumerate(OPERATORS + VARIABLES)}
        self.symbols = nn.Embedding(len(self.places), width)
        self.gate = nn.Linear(3 * width, width)
        self.content = nn.Linear(3 * width, width)

    def combined(self, symbol: torch.Tensor, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """The vector of an operator with what stands on both sides of it."""
        everything = torch.cat([symbol, left, right])
        gate = torch.sigmoid(self.gate(everything))
        return gate * torch.tanh(self.content(everything)) + (1 - gate) * (left + right) / 2

    def forward(self, formula: Formula) -> torch.Tensor:
        symbol = self.symbols(torch.tensor(self.places[formula.symbol]))
        if formula.left is None or formula.right is None:
            return symbol
        return self.combined(symbol, self(formula.left), self(formula.right))
