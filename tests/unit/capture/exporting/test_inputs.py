"""What a module is called with, and which sizes must be dynamic, as torch.export takes it and as code."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
import torch
from torch import nn
from torch.export import Dim

from dynamo_core.capture.exporting.inputs import (
    as_code,
    bound,
    dynamic_shapes,
    inputs_of,
    unregistered_dataclasses,
    varied_dimensions,
    written_arguments,
)
from dynamo_core.capture.exporting.observer import CallsSeen
from dynamo_core.capture.exporting.trial import Call
from dynamo_core.exports.modules import specialized_arguments
from dynamo_core.model import ConstantSeen


@dataclass
class Batch:
    x: torch.Tensor
    mask: torch.Tensor | None = None
    scale: int = 1


class Pair(NamedTuple):
    a: torch.Tensor
    b: torch.Tensor


class Takes(nn.Module):
    def forward(self, batch: Any, *more: Any, pair: Any = None, **named: Any) -> None: ...


def arguments(size: int, scale: int = 1) -> dict[str, Any]:
    call = Call(
        (Batch(torch.zeros(size, 4), scale=scale), [torch.zeros(size)], {"k": torch.zeros(3)}),
        {"pair": Pair(torch.zeros(2, size), torch.zeros(1)), "flag": True},
    )
    return bound(Takes(), *call)


def test_every_value_has_the_name_that_would_be_written() -> None:
    inputs = inputs_of(arguments(5))
    assert inputs.sizes == {
        "batch.x": (5, 4),
        "more[0][0]": (5,),
        "more[1]['k']": (3,),
        "pair.a": (2, 5),
        "pair.b": (1,),
    }
    assert inputs.constants == {"batch.scale": "1", "named['flag']": "True"}


def test_what_varied_is_dynamic_in_the_form_of_the_arguments_and_the_code_says_the_same() -> None:
    seen = CallsSeen(inputs_of(arguments(5)), None)
    assert seen.varied == {}
    assert not seen.note(inputs_of(arguments(5)))
    assert seen.note(inputs_of(arguments(7, scale=2)))
    shapes = dynamic_shapes(arguments(5), seen.varied)
    dynamic = Dim.DYNAMIC
    assert shapes == {
        "batch": [{0: dynamic}, dynamic],  # None is left out, as torch leaves it out
        "more": ([{0: dynamic}], {"k": None}),
        "pair": Pair({1: dynamic}, None),  # type: ignore[arg-type]
        "named": {"flag": None},
    }
    assert eval(as_code(shapes), {"Dim": Dim, "Pair": Pair}) == shapes


def test_a_call_of_another_form_is_counted_apart() -> None:
    seen = CallsSeen(inputs_of(arguments(5)), None)
    of_halves = {**arguments(5), "batch": Batch(torch.zeros(5, 4, dtype=torch.half))}
    assert seen.count(inputs_of(arguments(9)))
    assert not seen.count(inputs_of(of_halves))


def test_sizes_of_one_are_worse_to_export_with() -> None:
    seen = CallsSeen(inputs_of(arguments(1)), None)
    seen.note(inputs_of(arguments(4)))
    special = [seen.special_sizes(inputs_of(arguments(size))) for size in (1, 4)]
    assert special == [3, 0]


@pytest.mark.parametrize(
    ("values", "is_dynamic"), [(["2", "4"], True), (["2"], False), (["True", "False"], False)]
)
def test_only_whole_numbers_that_vary_are_dynamic(values: list[str], is_dynamic: bool) -> None:
    assert ("n" in varied_dimensions({}, {"n": values})) == is_dynamic


def test_arguments_are_written_as_they_were_given() -> None:
    class Net(nn.Module):
        def forward(self, x: Any, y: Any = None, *rest: Any, mask: Any = None) -> None: ...

    assert written_arguments(Net(), (1,), {"mask": 2}) == "(x,), {'mask': mask}"
    assert written_arguments(Net(), (1, 2), {}) == "(x, y)"
    assert written_arguments(Net(), (1, 2, 3, 4), {}) == "(x, y, *rest)"
    assert written_arguments(Net(), (), {"x": 1}) == "(), {'x': x}"


def test_dataclasses_that_torch_does_not_know_are_found_wherever_they_are() -> None:
    assert unregistered_dataclasses([(), {"a": [Batch(torch.zeros(1))]}]) == [Batch]
    assert unregistered_dataclasses(Pair(torch.zeros(1), torch.zeros(1))) == []


@pytest.mark.parametrize(
    ("values", "are_left_out"),
    [
        (("3",), False),
        (("3", "-4"), False),
        (("3", "None"), True),
        (("0.5", "1.5"), True),
        (("'sum'",), False),
    ],
)
def test_an_argument_varies_where_all_of_its_values_are_whole_numbers(
    values: tuple[str, ...], are_left_out: bool
) -> None:
    assert bool(specialized_arguments([ConstantSeen("scale", values)])) is are_left_out
