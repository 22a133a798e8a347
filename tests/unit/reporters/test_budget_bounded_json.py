"""What a budget of tokens leaves of a document."""

import json

import pytest

from dynamo_reporters.budget import bounded_json
from dynamo_reporters.documents import json_text
from support.documents import document
from support.stored import stored


def test_a_document_keeps_its_budget_with_the_end_of_its_line() -> None:
    told = document("explain", stored("toy"))
    whole = len(json_text(told, is_short=True))
    told["recording"] += "x" * (-whole % 4)
    tokens = len(json_text(told, is_short=True)) // 4
    assert len(bounded_json(told, tokens)) <= 4 * tokens
    assert json.loads(bounded_json(told, tokens)).get("omitted")
    assert bounded_json(told, tokens + 1) == json_text(told, is_short=True) + "\n"


def test_what_cannot_be_cut_says_how_much_it_needs() -> None:
    with pytest.raises(ValueError, match="10 tokens are too few: it has "):
        bounded_json(document("explain", stored("toy")), 10)
