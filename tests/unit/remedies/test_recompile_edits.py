"""Advice for recompiles that a `None` brings about, and for those that torch words as an error."""

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


@pytest.mark.parametrize("check", ["mask is None", "___check_type_id(mask, 7), type=<class 'NoneType'>"])
def test_what_is_none_in_some_calls_is_said_to_be_so(check: str) -> None:
    (cause,) = causes([f"0/0: {check}"])
    assert any("`mask` is None in some calls only" in each.text for each in recompile_advice(cause))


@pytest.mark.parametrize("check", ["n == 3", "___check_type_id(n, 7), type=<class 'float'>"])
def test_nothing_is_said_to_be_none_that_is_not(check: str) -> None:
    (cause,) = causes([f"0/0: {check}"])
    assert not any("is None" in each.text for each in recompile_advice(cause))
