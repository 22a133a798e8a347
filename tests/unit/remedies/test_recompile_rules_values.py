"""Remedies for recompiles for numbers and gradients that changed along with others, or were 0 or 1."""

import pytest

from dynamo_core.analysis.recompile_sentences import cause_sentence
from dynamo_core.model import CompileId, Optimizer, Place, StackFrame, Symbol
from dynamo_core.remedies.recompile_rules import recompile_advice
from support.made_causes import FILE, causes

LINE = StackFrame(Place(FILE, 5), "f", "y = x * scale")
SGD = Optimizer(name="SGD", module="torch.optim.sgd", file="sgd.py")


def dynamic(source: str, hint: str = "3") -> Symbol:
    return Symbol(CompileId(0, 1), "s7", hint, source, LINE.place, (LINE,))


def test_a_version_for_what_a_layer_has_computed_is_needed_where_nothing_else_changed() -> None:
    reason = "0/0: tensor 'x' requires_grad mismatch. expected requires_grad=0"
    (alone,) = causes([reason], optimizers=[SGD])
    assert cause_sentence(alone).endswith("there is nothing to cure")
    (beside,) = causes([reason], optimizers=[SGD], symbols=[dynamic("L['scale']")])
    assert "nothing to cure" not in cause_sentence(beside)
    assert recompile_advice(beside)


@pytest.mark.parametrize(("before", "versions"), [("1", "all but 0 and 1 of them"), ("5", "all of them")])
def test_an_integer_of_0_or_1_is_a_version_of_its_own(before: str, versions: str) -> None:
    (found,) = causes([f"0/0: count == {before}"], symbols=[dynamic("L['count']")])
    assert versions in recompile_advice(found)[0].text
