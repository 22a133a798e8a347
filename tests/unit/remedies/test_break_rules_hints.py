"""Torch's hints on a graph break: which are given, and which stand behind advice of ours."""

from dynamo_core.model import BreakExplanation, GraphBreak, Place, StackFrame
from dynamo_core.remedies.break_rules import break_advice, useful_hints


def advised(line: str, *hints: str) -> list[str]:
    place = Place("/home/me/train.py", 7)
    explained = BreakExplanation(place, "odd", "Odd.", hints, None)
    broken = GraphBreak("odd", (StackFrame(place, "forward", line),), None, explained)
    return [each.text for each in break_advice(broken, "2.13.0")]


def test_all_hints_are_read_and_the_useful_ones_given() -> None:
    fundamental = "This graph break is fundamental - it is unlikely that ... Consider finding a workaround."
    earlier = "This graph break may have been caused by an earlier graph break."
    hints = (
        fundamental,
        earlier,
        "Avoid using\n `x`.",
        "Add tp_iternext_impl to this VariableTracker.",
        "Please report an issue to PyTorch.",
        "Construct the object outside, or submit an issue to GitHub.",
        "Keep `___stack0`.",
        "Define `x` in <Trainer object at 0x7f41>.",
    )
    assert useful_hints(hints) == ["Construct the object outside.", "Avoid using `x`.", earlier]
    assert [each.split(":")[0] for each in advised("y = odd(x)", fundamental)] == ["leave `odd(x)` to Python"]


def test_a_hint_that_says_only_what_not_to_do_stands_behind_advice_of_ours() -> None:
    concrete, vague = "Set `torch._dynamo.config.x = True`.", "Avoid calling `odd`."
    assert advised("y = odd(x)", vague, concrete) == [concrete, vague]
    ours, hint = advised("y = odd(x)", vague)
    assert ours.startswith("leave `odd(x)` to Python: do it before the call") and hint == vague
    assert advised("with odd(x):", vague) == [vague]


def test_hints_for_those_who_develop_torch_or_that_may_make_wrong_are_not_given() -> None:
    for hint in (
        "Use torch._dynamo.allow_c_slot(Odd) to register it as safe if its slots are pure and deterministic.",
        "Register 'x' with a MemberType in register_opaque_type(members=...).",
        "Set `torch._dynamo.config.enable_faithful_generator_behavior = False`. Note that this may cause "
        "silent incorrectness, since we will eagerly unpack generators.",
        "Enable compiled autograd by setting torch._dynamo.config.compiled_autograd = True.",
    ):
        assert useful_hints([hint]) == []
