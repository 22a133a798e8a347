"""How remedies name what varies in a recompile."""

import pytest

from dynamo_core.analysis.recompile_sentences import cause_sentence
from dynamo_core.remedies.recompile_parts import what_varies
from dynamo_core.remedies.recompile_rules import recompile_advice
from support.made_causes import causes, opened


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("0/0: tensor 'x' size mismatch at index 1. expected 4, actual 5", "the size of `x` at dimension 1"),
        ("0/0: x.size()[0] == y.size()[0]", "whether `x.size()[0] == y.size()[0]`"),
        ("0/0: n == 3", "`n`"),
        ("0/0: ___check_global_state()", "an input"),
    ],
)
def test_what_varies_is_named_as_its_check_has_it(reason: str, said: str) -> None:
    (cause,) = causes([reason])
    assert what_varies(cause) == said


def test_a_float_that_a_break_gave_ends_with_the_break() -> None:
    reason = "0/0: ___stack0 == 0.25  # log['mean'] = x.mean().item()  # me/train.py:5 in f"
    (cause,) = causes([reason], symbols=[opened("L['___stack0']")])
    assert "cure that break" in recompile_advice(cause)[0].text
    assert "___stack" not in " ".join((cause_sentence(cause), what_varies(cause)))
    for check in ("___stack0.weight == 3", "___stack1.size()[0] < 4", "L['___stack0'] is L['___stack1']"):
        (cause,) = causes([f"0/0: {check}"])
        assert "___stack" not in cause_sentence(cause) + what_varies(cause), check
