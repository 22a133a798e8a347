"""Formulas as trees of operators over variables."""

import random
from dataclasses import dataclass

OPERATORS = ("+", "-", "*", "/")
VARIABLES = ("x", "y", "z")


@dataclass(frozen=True)
class Formula:
    """An operator with two formulas below it, or a variable."""

    symbol: str
    left: "Formula | None" = None
    right: "Formula | None" = None

    def __str__(self) -> str:
        return self.symbol if self.left is None else f"({self.left} {self.symbol} {self.right})"


def make_formula(generator: random.Random, depth: int) -> Formula:
    """A formula that is at most so deep."""
    if depth == 0 or generator.random() < 0.25:
        return Formula(generator.choice(VARIABLES))
    operator = generator.choice(OPERATORS)
    return Formula(operator, make_formula(generator, depth - 1), make_formula(generator, depth - 1))
