"""What autotune calls wrong of a compiled graph."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from dynamo_core.backends.measuring.calls import CompiledGraph, NotRunnable
from dynamo_core.backends.measuring.worker import check


def disagreement(graph: Callable[..., Any], function: Callable[..., Any], *inputs: Any) -> str | None:
    return check(CompiledGraph(torch.fx.symbolic_trace(graph), function, inputs, 0.0)).disagreement


def test_the_side_of_a_step_is_not_for_a_candidate_to_know() -> None:
    def above_one(x: torch.Tensor) -> torch.Tensor:
        return (x > 1.0).float() * 5

    on_the_step = torch.tensor([1.0, *[3.0] * 9])
    assert disagreement(above_one, lambda x: torch.full((10,), 5.0), on_the_step) is None
    told = disagreement(above_one, lambda x: torch.full((10,), 5.005), on_the_step)
    assert told is not None and told.startswith("output 0 is off by")


def test_what_is_done_to_inputs_is_compared() -> None:
    def added(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    told = disagreement(added, lambda x: x.add_(1), torch.zeros(3))
    assert told is not None and told.startswith("input 0 afterwards is off by 1")
    assert disagreement(added, lambda x: (x + 1).double(), torch.zeros(3)) == (
        "output 0: dtype float64 where eager has float32"
    )


def test_gradients_are_compared_though_another_output_has_none() -> None:
    def both(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x.argmax(), x * 2

    x = torch.tensor([1.0, 3.0], requires_grad=True)
    assert disagreement(both, lambda x: (x.argmax(), x * 2), x) is None
    told = disagreement(both, lambda x: (x.argmax(), x.detach() * 3 - x.detach() + 0 * x), x)
    assert told is not None and told.startswith("gradient of input 0 is off by")


def test_inputs_that_are_no_tensors_or_want_no_gradient_have_none() -> None:
    def scaled(x: torch.Tensor, y: torch.Tensor, times: int) -> torch.Tensor:
        return x * y * times

    x, y = torch.tensor([1.0, 3.0], requires_grad=True), torch.tensor([2.0, 5.0])
    assert disagreement(scaled, scaled, x, y, 3) is None
    told = disagreement(scaled, lambda x, y, times: x * y * times + (x - x.detach()), x, y, 3)
    assert told is not None and told.startswith("gradient of input 0 is off by 1")


def test_what_lacks_a_gradient_is_told_by_their_number() -> None:
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    assert disagreement(lambda x: x * 2, lambda x: x.detach() * 2, x) == (
        "it has 2 outputs and gradients where eager has 3"
    )


def test_what_float64_does_not_have_is_compared_with_eager_alone() -> None:
    def exponent(x: torch.Tensor) -> torch.Tensor:
        return x.view(torch.int32) >> 23

    x = torch.tensor([1.1, 3.3])
    assert disagreement(exponent, exponent, x) is None
    assert disagreement(exponent, lambda x: exponent(x) + 1, x) is not None


def test_where_float64_has_it_that_is_what_it_is_measured_by() -> None:
    def third(x: torch.Tensor) -> torch.Tensor:
        return x / 3

    told = disagreement(third, lambda x: x / 2, torch.ones(4))
    assert told is not None and "from float64" in told


def test_other_random_numbers_are_told_as_such() -> None:
    def dropped(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.dropout(x, 0.5)

    assert disagreement(dropped, dropped, torch.ones(64)) is None
    told = disagreement(dropped, lambda x: dropped(x) * 0.5, torch.ones(64))
    assert told is not None and told.endswith("; it draws random numbers, perhaps not as eager does")


def test_a_graph_that_fails_in_eager_cannot_be_checked() -> None:
    with pytest.raises(NotRunnable, match=r"eager fails on it: .*shape"):
        disagreement(lambda x: x.view(3), lambda x: x, torch.ones(2))
