import random

import torch
from encoder import FormulaEncoder
from formulas import OPERATORS, VARIABLES, Formula, make_formula


def depth(formula):
    return 0 if formula.left is None else 1 + max(depth(formula.left), depth(formula.right))


def test_formulas_are_not_too_deep():
    generator = random.Random(0)
    formulas = [make_formula(generator, depth=3) for _ in range(30)]
    assert max(map(depth, formulas)) == 3
    assert {formula.symbol for formula in formulas} <= set(OPERATORS + VARIABLES)


def test_a_formula_is_written_with_brackets():
    assert str(Formula("+", Formula("x"), Formula("*", Formula("y"), Formula("z")))) == "(x + (y * z))"


def test_order_counts():
    torch.manual_seed(0)
    encoder = FormulaEncoder()
    left, right = (encoder(Formula("-", Formula(a), Formula(b))) for a, b in ("xy", "yx"))
    assert not torch.allclose(left, right)


def test_every_part_learns():
    torch.manual_seed(0)
    encoder = FormulaEncoder()
    encoder(Formula("+", Formula("x"), Formula("y"))).sum().backward()
    used = encoder.symbols.weight.grad.abs().sum(dim=1) > 0
    assert used.sum() == 3
