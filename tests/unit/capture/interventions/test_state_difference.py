"""In what a call's state differs from what eager leaves."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from dynamo_core.capture.interventions.observed_state import (
    RAISED,
    RAISED_AT,
    RAISED_CLASSES,
    Leaves,
    observe,
)
from dynamo_core.capture.interventions.state_difference import (
    Compared,
    compare_leaves,
    largest_of_unequal,
    needs_untouched_values,
)


class Own:
    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


def leaves(result: Any = None, **roots: Any) -> Leaves:
    return observe({**roots, "result": result}, set())


def kinds(compared: Compared) -> list[tuple[str, str]]:
    return [(each.kind, each.path) for each in compared.differences]


@pytest.mark.parametrize(
    ("compiled", "eager", "expected"),
    [
        (torch.ones(2), torch.zeros(2), [("value", "result")]),
        (torch.ones(2), torch.ones(3), [("structure", "result")]),
        (torch.ones(2), torch.ones(2, dtype=torch.float64), [("dtype", "result")]),
        (torch.ones(2, 3).T, torch.ones(3, 2), [("stride", "result")]),
        (torch.ones(2, requires_grad=True), torch.ones(2), [("structure", "result")]),
        ((torch.ones(2),), [torch.ones(2)], [("structure", "result")]),
        ([1, 2], [1], [("structure", "result[1]")]),
        ({"a": 1}, {"a": 2}, [("value", "result['a']")]),
        ({"a": None}, {"b": None}, [("structure", "result['a']"), ("structure", "result['b']")]),
        (1, True, [("value", "result")]),
        (1.0, 1.5, [("value", "result")]),
        (-0.0, 0.0, []),
        (1.0, 1.000001, []),
        (3, 4, [("value", "result")]),
        (torch.tensor([float("nan")]), torch.tensor([float("nan")]), []),
        (torch.tensor([float("nan")]), torch.tensor([1.0]), [("value", "result")]),
        (torch.ones(1, 4).T, torch.ones(4, 1), []),  # strides of a dimension of size 1 do not matter
        (Own(a=1), Own(a=2), [("value", "result.a")]),
    ],
)
def test_results(compiled: Any, eager: Any, expected: list[tuple[str, str]]) -> None:
    assert kinds(compare_leaves(leaves(compiled), leaves(eager))) == expected


def test_no_gradient_is_not_a_gradient_of_zeros() -> None:
    own, eagers = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    own.grad = torch.zeros(2)
    (difference,) = compare_leaves(leaves(weight=own), leaves(weight=eagers)).differences
    assert (difference.kind, difference.path) == ("gradient", "gradient of weight")
    eagers.grad = torch.zeros(2)
    assert kinds(compare_leaves(leaves(weight=own), leaves(weight=eagers))) == []
    eagers.grad = torch.ones(2)
    assert kinds(compare_leaves(leaves(weight=own), leaves(weight=eagers))) == [
        ("gradient", "gradient of weight")
    ]


def test_state_that_was_written_is_a_mutation() -> None:
    module = torch.nn.BatchNorm1d(2)
    same = torch.nn.BatchNorm1d(2)
    same.load_state_dict(module.state_dict())
    same.get_buffer("running_mean").add_(1)
    assert kinds(compare_leaves(leaves(self=module), leaves(self=same))) == [
        ("mutation", "self.running_mean")
    ]
    assert kinds(compare_leaves(leaves(calls=1), leaves(calls=2))) == [("mutation", "calls")]
    assert kinds(compare_leaves(leaves(known={"a": 1}), leaves(known={}))) == [("mutation", "known['a']")]


def test_a_result_that_is_the_argument_itself() -> None:
    x, y = torch.ones(2), torch.ones(2)
    own, eager = leaves(x, **{"args[0]": x}), leaves(y.clone(), **{"args[0]": y})
    (difference,) = compare_leaves(own, eager).differences
    assert (difference.kind, difference.path) == ("structure", "result")
    assert difference.detail == "the same object as args[0], where eager has a tensor of float32 [2]"


def test_a_result_that_shares_memory_with_an_argument() -> None:
    x, y = torch.ones(2), torch.ones(2)
    own, eager = leaves(x[:1], **{"args[0]": x}), leaves(y[:1].clone(), **{"args[0]": y})
    (difference,) = compare_leaves(own, eager).differences
    assert (difference.kind, difference.detail) == ("aliasing", "memory args[0], where eager has its own")


@pytest.mark.parametrize(
    ("compiled", "eager", "detail"),
    [
        (None, "ValueError: no", "returned, where eager raises ValueError: no"),
        (None, "A: \"b\" is not 'c'", "returned, where eager raises A: \"b\" is not 'c'"),
        ("ValueError: no", None, "raised ValueError: no, where eager returns"),
        ("ValueError: no", "KeyError: a", "raised ValueError: no, where eager raises KeyError: a"),
    ],
)
def test_exceptions(compiled: str | None, eager: str | None, detail: str) -> None:
    def outcome(text: str | None) -> Leaves:
        return observe({"result": 1}, set()) if text is None else raising(text)

    (difference,) = compare_leaves(outcome(compiled), outcome(eager)).differences
    assert (difference.kind, difference.detail) == ("exception", detail)


def raising(text: str, *bases: str) -> Leaves:
    classes = (text.partition(":")[0], *bases)
    return observe({RAISED: text, RAISED_CLASSES: classes, RAISED_AT: ("a.py", 3)}, set())


def test_an_exception_of_the_same_class_or_of_a_subclass_agrees() -> None:
    eager = raising("ValueError: b", "Exception")
    assert compare_leaves(raising("ValueError: a", "Exception"), eager).differences == []
    assert compare_leaves(raising("OwnError: a", "ValueError", "Exception"), eager).differences == []
    wider = compare_leaves(raising("ValueError: a", "Exception"), raising("OwnError: a", "ValueError"))
    assert kinds(wider) == [("exception", "raised")]


def test_an_inference_tensor_is_told_from_another() -> None:
    with torch.inference_mode():
        made = torch.ones(2)
    (difference,) = compare_leaves(leaves(torch.ones(2)), leaves(made)).differences
    assert difference.detail == "is_inference False, where eager has True"


def test_values_come_before_strides() -> None:
    own = leaves([torch.ones(2, 3).T, 1])
    assert kinds(compare_leaves(own, leaves([torch.ones(3, 2), 2]))) == [
        ("value", "result[1]"),
        ("stride", "result[0]"),
    ]


def again_with(short: str, value: Any) -> Callable[[int], Leaves]:
    def again(seed: int) -> Leaves:
        return {**leaves(value), "short": ["value", repr([short] if short else [])]}

    return again


def test_rounding_to_a_short_dtype_is_no_difference_but_is_told() -> None:
    eager = torch.ones(8)
    compiled = eager + 0.003
    assert kinds(compare_leaves(leaves(compiled), leaves(eager), again_with("", eager))) == [
        ("value", "result")
    ]
    compared = compare_leaves(leaves(compiled), leaves(eager), again_with("bfloat16", eager))
    assert compared.differences == []
    assert compared.rounding is not None and compared.rounding.path == "result"
    wrong = compare_leaves(leaves(eager * 2), leaves(eager), again_with("bfloat16", eager))
    assert kinds(wrong) == [("value", "result")]


def test_values_of_a_parameter_are_needed_where_only_one_side_has_written_it() -> None:
    parameter = torch.nn.Parameter(torch.ones(2))
    untouched = observe({"self": parameter}, {id(parameter)})
    written = observe({"self": parameter}, set())
    assert needs_untouched_values(untouched, written)
    assert needs_untouched_values(written, untouched)
    assert not needs_untouched_values(untouched, untouched)
    assert not needs_untouched_values(written, written)


def test_values_that_were_not_looked_at_are_said() -> None:
    assert compare_leaves(leaves(torch.ones(2)), leaves(torch.ones(2))).left_out is None
    own, eager = (leaves([torch.ones(2).to_sparse(), 1]) for _ in range(2))
    compared = compare_leaves(own, eager)
    assert compared.left_out == "the values of the tensor result[0]"
    assert (compared.differences, compared.values) == ([], 1)


def test_printed_lines_are_compared_and_what_was_not_noted_is_said() -> None:
    with_line = leaves(printed=["loud"], **{"printed: line": [("/a/f.py", 3)]})
    without = leaves(printed=[], **{"printed: line": []})
    assert kinds(compare_leaves(without, with_line)) == [("output", "printed[0]")]
    assert kinds(compare_leaves(with_line, with_line)) == []
    not_noted = compare_leaves(leaves(printed=None), with_line)
    assert (kinds(not_noted), not_noted.left_out) == ([], "what it prints")


def test_the_largest_difference_of_what_is_not_equal_to_the_bit() -> None:
    found = largest_of_unequal(
        leaves([torch.ones(2), torch.ones(1)]), leaves([torch.ones(2) * 3, torch.ones(1)])
    )
    assert found is not None and (found.path, found.error) == ("result[0]", 2.0)
    assert largest_of_unequal(leaves(torch.ones(2)), leaves(torch.ones(2))) is None


@pytest.mark.parametrize(("second", "is_other"), [(lambda x: x.detach(), False), (lambda x: x.clone(), True)])
def test_one_object_for_two_results_of_the_same_memory_is_no_difference(
    second: Callable[[torch.Tensor], torch.Tensor], is_other: bool
) -> None:
    first = torch.arange(4.0)
    assert bool(kinds(compare_leaves(leaves((first, first)), leaves((first, second(first)))))) is is_other


def test_one_object_for_two_results_of_other_values_is_a_difference() -> None:
    rows = torch.tensor([[1.0, 1.0], [2.0, 2.0]])
    assert kinds(compare_leaves(leaves((rows[0],) * 2), leaves((rows[0], rows[1])))) == [
        ("structure", "result[1]")
    ]
