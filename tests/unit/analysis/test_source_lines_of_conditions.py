"""Conditions of a branch as what tensors can compute, and lines by what they are made of."""

import pytest

from dynamo_core.analysis.source_lines import (
    begins_with_a_guard,
    condition_on_tensors,
    is_made_of_alone,
    needs_the_number,
)


@pytest.mark.parametrize(
    ("condition", "on_tensors"),
    [
        ("x.sum().item() > 0", "x.sum() > 0"),
        ("x.min() < low and y.max() > high", "(x.min() < low) & (y.max() > high)"),
        ("a.any() or not b.all()", "(a.any()) | (torch.logical_not(b.all()))"),
        ("if and", "if and"),  # no condition at all
    ],
)
def test_what_tensors_have_stands_for_and_or_and_not(condition: str, on_tensors: str) -> None:
    assert condition_on_tensors(condition) == on_tensors


@pytest.mark.parametrize(
    ("line", "begins"),
    [
        ("if mask is not None and mask.any():", True),
        ("if self.noisy and x.std().item() > 0.1:", True),
        ("if not self.training and x.any():", True),
        ("if x.any() and self.noisy:", False),  # what stands behind the value is asked too late
        ("if low and high:", False),  # either may be the tensor
        ("if x.min() < low and x.max() > high:", False),
    ],
)
def test_what_python_knows_stands_first(line: str, begins: bool) -> None:
    assert begins_with_a_guard(line) is begins


@pytest.mark.parametrize(
    ("line", "of_int", "of_float"),
    [
        ("if self.size > 4:", False, True),
        ("elif 2 <= self.size < limit and x is not y:", True, True),
        ("elif 2 <= self.size < limit:", False, True),
        ("if self.size % 2 > 0:", True, True),
        ("if self.size == 4:", True, True),
        ("while self.size < 4:", True, True),
        ("for i in range(self.size):", True, True),
        ("assert self.size + n <= self.most", False, False),
        ("y = x[: self.size]", False, False),
    ],
)
def test_what_a_line_asks_of_an_integer_that_is_dynamic_may_be_its_range(
    line: str, of_int: bool, of_float: bool
) -> None:
    assert needs_the_number(line, is_int=True) is of_int
    assert needs_the_number(line, is_int=False) is of_float


@pytest.mark.parametrize(
    ("line", "is_made"),
    [
        ("ids = [CODES[c] for c in text.lower() if c in CODES][:MAX]", True),
        ("length = len(text)", True),
        ("x = F.interpolate(x, mode=text)", False),
        ("x = x * (2 if text == 'a' else 3)", False),
        ("return len(text)", False),
        ("ids = [CODES[c] for c in other]", False),
        ("ids = self.encode(text)", False),
        ("not a line of Python", False),
    ],
)
def test_what_is_made_of_one_value_and_constants(line: str, is_made: bool) -> None:
    assert is_made_of_alone(line, "text") is is_made
