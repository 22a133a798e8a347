"""A call of a compiled graph beside eager."""

from typing import Any

import pytest
import torch

from dynamo_core.capture.interventions.verified_call import CallBefore, side_effect_in, verify


def padded(x: Any) -> Any:
    return (torch.cat([x, x.new_empty(2)]),)


def doubled(x: Any) -> Any:
    return (x * 2,)


@pytest.mark.parametrize(
    ("function", "why"),
    [(padded, "it makes tensors whose memory nothing has filled"), (doubled, None)],
)
def test_memory_that_nothing_has_filled_is_not_comparable(function: Any, why: str | None) -> None:
    arguments = [torch.ones(2)]
    graph = torch.fx.symbolic_trace(function)
    wrong = (torch.full((4 if function is padded else 2,), float("nan")),)
    verdict = verify(CallBefore(arguments), graph, graph.forward, arguments, wrong)
    assert verdict.not_comparable == why
    assert (verdict.first_wrong is None) == (why is not None)


def test_nor_is_memory_of_an_inner_graph() -> None:
    arguments = [torch.ones(2)]
    inner = torch.nn.Module()
    inner.padded = torch.fx.symbolic_trace(padded)
    graph = torch.fx.Graph()
    given = graph.placeholder("x")
    graph.output((graph.call_function(torch.mul, (given, 2)),))
    whole = torch.fx.GraphModule(inner, graph)
    whole.add_submodule("padded", inner.padded)
    verdict = verify(
        CallBefore(arguments), whole, whole.forward, arguments, (torch.full((2,), float("nan")),)
    )
    assert verdict.not_comparable == "it makes tensors whose memory nothing has filled"


@torch.library.custom_op("dynamo_tests::noted", mutates_args=())
def noted(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


def test_graphs_with_effects_beside_their_results_are_not_run_again() -> None:
    def with_an_operator(x: Any) -> Any:
        return torch.ops.dynamo_tests.noted.default(x)

    effect = side_effect_in(torch.fx.symbolic_trace(with_an_operator))
    assert effect == "calls an operator that is written in Python (dynamo_tests::noted)"
    graph = torch.fx.symbolic_trace(doubled)
    assert side_effect_in(graph) is None
    graph.graph.call_function(torch.set_default_dtype, (torch.float32,))
    assert side_effect_in(graph) == "changes a setting of torch (set_default_dtype)"
