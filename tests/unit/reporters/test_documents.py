"""Cells that no spreadsheet computes, and JSON that every parser reads."""

import json
from typing import Any

import pytest

from dynamo_reporters.documents import csv_cell, json_text


@pytest.mark.parametrize(
    "lead", ["", " ", "  \t", "\u00a0", "\x00", "\x1f", "\x7f", "\ufeff", "\u200b", "\n", "\u3000"]
)
@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\uff1d"])
def test_text_is_no_formula(lead: str, sign: str) -> None:
    formula = f"{lead}{sign}HYPERLINK(1)"
    assert csv_cell(formula) == f"'{formula}"


@pytest.mark.parametrize("value", [-1, -0.5, 3, None, "a=b", "rank 1", "", "0/1", "graph -1"])
def test_other_cells_stay(value: Any) -> None:
    assert csv_cell(value) == value


def test_numbers_that_are_none_are_null() -> None:
    value = {"a": [1.5, float("nan"), (float("inf"), {"b": -float("inf")})], "c": "NaN"}
    assert json.loads(json_text(value)) == {"a": [1.5, None, [None, {"b": None}]], "c": "NaN"}
    assert csv_cell(float("nan")) is None
