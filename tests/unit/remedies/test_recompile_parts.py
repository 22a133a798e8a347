"""How remedies name what varies in a recompile."""

import pytest

from dynamo_core.analysis.recompile_sentences import cause_sentence
from dynamo_core.remedies.recompile_parts import kept_index, kept_key, what_varies
from dynamo_core.remedies.recompile_rules import recompile_advice
from support.made_causes import FILE, causes, opened


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


@pytest.mark.parametrize(
    ("lines", "table"),
    [
        (["if self.chosen is not None:", "out = self.scales[self.chosen]"], "self.scales"),
        (["if self.chosen is not None:", "out = self.scales.get(self.chosen)"], "self.scales"),
        (["if self.chosen is not None:", "out = self.scales[self.other]"], None),
    ],
)
def test_a_key_that_an_object_keeps_is_known_by_any_line_of_the_function(
    lines: list[str], table: str | None
) -> None:
    text = {number: f"    {line}" for number, line in enumerate(lines, 4)}
    reason = f"0/0: self.part.chosen == 'low'  # {lines[0]}  # {FILE}:4 in f"
    (cause,) = causes([reason], lines_traced={FILE: {3: "def f(self):"} | text})
    assert kept_key(cause) == table
    assert ("copy it into them where the key is set" in recompile_advice(cause)[0].text) is bool(table)


@pytest.mark.parametrize(
    ("source", "line", "table"),
    [
        ("self.layer_idx", "keys = self.keys[layer]", "self.keys"),
        ("self.layer_idx", "keys = self.keys[0]", None),
        ("n", "keys = self.keys[n]", None),
    ],
)
def test_an_index_that_an_object_keeps_is_passed_in_as_its_entry(
    source: str, line: str, table: str | None
) -> None:
    (cause,) = causes([f"0/0: {source} == 3  # {line}  # {FILE}:4 in f"])
    assert kept_index(cause) == table
    advised = [each.text for each in recompile_advice(cause)]
    assert any("pass in the entry itself" in each for each in advised) is bool(table)
    assert any("allow_unspec_int" in each for each in advised) is (source != "n" and not table)


def test_a_number_of_a_module_is_none_that_a_setting_of_torch_compile_makes_dynamic() -> None:
    line = "if self.updates < self.most:"
    reason = f"0/0: model._modules['norm'].updates == 3  # {line}  # {FILE}:4 in f"
    (cause,) = causes([reason])
    advised = [each.text for each in recompile_advice(cause)]
    assert cause.is_of_module
    assert not any("dynamic=True" in each or "keep it in a buffer of the module" in each for each in advised)
