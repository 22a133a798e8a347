"""Remedies for recompiles for sizes that had to equal those of parameters, or that torch needs as numbers."""

from typing import Any

import pytest

from dynamo_core.model import CompileId, Place, Specialization, StackFrame
from dynamo_core.remedies.recompile_rules import recompile_advice
from support.made_causes import FILE, causes, entry, opened, size


def with_parameter(*sizes: int) -> dict[str, Any]:
    """Versions, each with a parameter `w` of another size, in which the size of `x` was fixed."""
    keys = "DispatchKeySet(CPU), torch.float32, device=None, requires_grad=True"
    codes = [
        f"check_tensor(L['w'], Parameter, {keys}, size=[8, {each}], stride=[{each}, 1])" for each in sizes
    ]
    line = StackFrame(Place(FILE, 5), "f", "return x @ w")
    return {
        "recompiled_entries": [entry(number, code, source="L['w']") for number, code in enumerate(codes)],
        "specializations": [
            Specialization(CompileId(0, number), ("L['x'].size()[0]",), str(each), (line,))
            for number, each in enumerate(sizes)
            if number
        ],
    }


def test_a_size_that_had_to_equal_that_of_a_parameter_is_dynamic_with_it() -> None:
    (cause,) = causes([size(4, 5)], symbols=[opened()], **with_parameter(4, 5))
    assert cause.is_of_parameter and not cause.is_needed_as_number
    changes = [each.change for each in recompile_advice(cause) if each.change is not None]
    assert [*map(str, changes[0].environment)] == ["TORCH_COMPILE_DYNAMIC_SOURCES=L['x']:0,L['w']:1"]
    setting = "torch._dynamo.config.force_parameter_static_shapes=False"
    assert [*map(str, changes[1].settings)] == [setting]


def test_the_setting_for_parameters_is_for_no_other_size() -> None:
    (cause,) = causes([size(4, 5)], symbols=[opened()])
    assert not any("force_parameter_static_shapes" in each.text for each in recompile_advice(cause))


@pytest.mark.parametrize("sizes", [(4, 4), (4, 6), (7, 5)])
def test_a_size_that_a_line_needs_is_not_that_of_a_parameter_that_differs_otherwise(sizes: Any) -> None:
    (cause,) = causes([size(4, 5)], symbols=[opened()], **with_parameter(*sizes))
    assert cause.is_needed_as_number and not cause.is_of_parameter


@pytest.mark.parametrize(("value", "is_needed"), [("5", True), ("1", False)])
def test_a_value_of_0_or_1_that_no_line_needs_is_torchs_own(value: str, is_needed: bool) -> None:
    needed = Specialization(CompileId(0, 1), ("L['x'].size()[0]",), value, ())
    (cause,) = causes([size(4, 5)], symbols=[opened()], specializations=[needed])
    assert cause.is_needed_as_number is is_needed
