"""Advice for recompiles that a `None` brings about, and for those that torch words as an error."""

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from dynamo_core.analysis.recompile_causes import RecompileCause, causes_of
from dynamo_core.analysis.recompiles import frames_recompiled
from dynamo_core.model import CompileId, GuardCheck, GuardSet, Place
from dynamo_core.remedies.recompile_parts import is_setting_of_torchs
from dynamo_core.remedies.recompile_rules import recompile_advice
from support.made_causes import causes, opened, process


@pytest.mark.parametrize(
    ("check", "says"),
    [
        ('Duplicate tensors found: ["x1", "x2"]', "are one object in some calls only"),
        ("x1 is x2", "are one object in some calls only"),
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


def test_a_tensor_that_is_an_index_gets_a_dimension() -> None:
    check = "t.item() == 3  # a = self.alphas[t]  # train.py:9 in noise"
    indexed, other = (
        recompile_advice(causes([f"0/0: {each}"])[0])[0]
        for each in (check, check.replace("self.alphas[t]", "x[:, : int(t)]"))
    )
    assert "`table[t.reshape(1)][0]`" in indexed.text and "reshape" not in other.text
    assert indexed.change is not None and indexed.change.edit == "index kept a tensor"


@pytest.mark.parametrize("check", ["n == 3", "___check_type_id(n, 7), type=<class 'float'>"])
def test_nothing_is_said_to_be_none_that_is_not(check: str) -> None:
    (cause,) = causes([f"0/0: {check}"])
    assert not any("is None" in each.text for each in recompile_advice(cause))


@pytest.mark.parametrize(
    "source", ["tree.left.left", "tree.children[0].children[1]", "tree.root.left.left.value"]
)
def test_a_walk_through_an_argument_is_one_advice_for_all_that_differs_in_it(source: str) -> None:
    found = causes([f"0/0: {source} is None"], ["0/1: tree.symbol == 'x'"], ["0/2: k == 'x'"])
    walk, also, other = (recompile_advice(each)[0].text for each in found)
    assert walk == also and "walks through `tree`" in walk and "one step" in walk
    assert "walks" not in other


@pytest.mark.parametrize(
    "source", ["self.encoder.encoder", "model._modules['a']._modules['b']", "cfg.model.width", "x.left.lefty"]
)
def test_other_objects_are_no_walk(source: str) -> None:
    (cause,) = causes([f"0/0: {source} is None"])
    assert not any("walks" in each.text for each in recompile_advice(cause))


def test_a_key_is_to_be_looked_up_before_the_call() -> None:
    line = "# before = self.tastes.get(name)  # train.py:4 in ranked"
    (key,) = causes([f"0/0: name == 'ann'  {line}"])
    assert "looked up in `self.tastes`" in recompile_advice(key)[0].text
    (other,) = causes([f"0/0: song == 'la'  {line}"])
    assert "each value of `song`" in recompile_advice(other)[0].text


@pytest.mark.parametrize(("value", "is_flag"), [("True", True), ("1", False)])
def test_a_flag_has_no_more_than_two_versions(value: str, is_flag: bool) -> None:
    (cause,) = causes([f"0/0: warm == {value}"])
    assert ("no more can come" in recompile_advice(cause)[0].text) is is_flag


@pytest.mark.parametrize(("source", "is_number"), [("L['day']._value_", True), ("L['x'].size()[0]", False)])
def test_a_member_with_whose_number_is_calculated_is_to_be_a_tensor(source: str, is_number: bool) -> None:
    check = "___check_obj_id(day, 7), type=<class 'calendar_days.Day'>"
    (cause,) = causes([f"0/0: {check}"], symbols=[opened(source)])
    assert ("torch.tensor(day.value)" in recompile_advice(cause)[0].text) is is_number


@pytest.mark.parametrize(
    ("line", "is_read"),
    [("mean = torch.stack(self.frames).mean(0)", True), ("return Moons(moved, after)", False)],
)
def test_a_list_that_grows_and_is_read_is_to_be_one_tensor(line: str, is_read: bool) -> None:
    inside = GuardCheck("TENSOR_MATCH", "L['self'].frames[0]", "", line, Place("me/train.py", 5), "forward")
    (cause,) = causes(
        ["0/0: len(self.frames) == 1  # self.frames.append(x)  # train.py:4 in forward"],
        recompiled_entries=[GuardSet(CompileId(0, 1), checks=(inside,))],
    )
    assert ("one tensor of a fixed size" in recompile_advice(cause)[0].text) is is_read


@pytest.mark.parametrize("check", ["q is k", 'Duplicate tensors found: ["q", "k"]'])
def test_one_of_two_arguments_that_are_one_tensor_is_given_as_a_view(check: str) -> None:
    (cause,) = causes([f"0/0: {check}"])
    change = recompile_advice(cause)[0].change
    assert change is not None and change.operand == "k = k.view_as(k)"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("y = torch.cat([self.embed(view) for view in views])", "loop outside"),
        ("for view in views:", "loop outside"),
        ("y = torch.cat(views)", "one tensor of a fixed size"),
    ],
)
def test_a_list_that_is_looped_over_is_told_from_one_that_is_put_together(line: str, said: str) -> None:
    (cause,) = causes([f"0/0: len(views) == 2  # {line}  # train.py:4 in forward"])
    assert said in recompile_advice(cause)[0].text


@pytest.mark.parametrize(("line", "is_setting"), [("y = self.drop(x)", True), ("y = x * self.drop.p", False)])
def test_a_number_that_a_module_needs_is_its_setting_where_the_line_does_not_read_it(
    line: str, is_setting: bool
) -> None:
    known = {"is_float": True, "is_of_module": True, "is_needed_as_number": True}
    cause = SimpleNamespace(source="self.drop.p", line=line, **known)
    assert is_setting_of_torchs(cast(RecompileCause, cause)) is is_setting


@pytest.mark.parametrize(
    ("check", "are_several"),
    [
        ("___check_type_id(fn, 7)", True),
        ("len(fn._modules) == 2", True),
        ("len(fn._modules['0'].monitor.seen) == 0", False),
        ("fn._modules['0'].calls == 1", False),
    ],
)
def test_what_a_module_of_torchs_keeps_is_no_other_module(check: str, are_several: bool) -> None:
    wrapper = Place("/venv/torch/_dynamo/external_utils.py", 68)
    known = process([f"0/0: {check}"])
    known.compiles[:] = [replace(each, name="inner", place=wrapper) for each in known.compiles]
    (frame,) = frames_recompiled([known])
    (cause,) = causes_of(frame)
    assert ("compile one module of yours" in recompile_advice(cause)[0].text) is are_several
