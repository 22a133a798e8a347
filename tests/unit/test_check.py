"""What autotune calls wrong of a compiled graph."""

from collections.abc import Callable
from typing import Any

import torch

from dynamo_core.measuring.check import check
from dynamo_core.measuring.compiled_graph import CompiledGraph


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
