"""Advice for recompiles that torch words as an error."""

import pytest

from dynamo_core.remedies.recompile_rules import recompile_advice
from support.made_causes import causes


@pytest.mark.parametrize(
    ("check", "says"),
    [
        ('Duplicate tensors found: ["x1", "x2"]', "is one tensor in this call"),
        ("'NoneType' object has no attribute 'size'", "is None in this call"),
    ],
)
def test_what_torch_words_as_an_error_is_said_as_what_differed(check: str, says: str) -> None:
    (cause,) = causes([f"0/0: {check}"])
    (advice,) = recompile_advice(cause)
    assert says in advice.text
