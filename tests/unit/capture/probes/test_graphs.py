"""What a backend returns for a graph, beside the tuple that Dynamo takes it for."""

from typing import Any

import pytest
import torch

from dynamo_core.capture.probes.graphs import outputs_of, structure_difference


@pytest.mark.parametrize(
    ("outputs", "result", "differs"),
    [
        (1, (1,), None),
        (2, [1, 2], None),
        (1, "a", "the backend returned a str, the graph returns a tuple of 1"),
        (2, (1,), "the backend returned 1 value, the graph returns 2"),
        (1, (1, 2), "the backend returned 2 values, the graph returns 1"),
        (0, None, None),
        (None, "a", None),
    ],
)
def test_in_what_a_result_is_not_the_tuple(outputs: int | None, result: Any, differs: str | None) -> None:
    assert structure_difference(outputs, result) == differs


def test_how_many_values_a_graph_returns() -> None:
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    graph.output((x, x))
    assert outputs_of(torch.fx.GraphModule({}, graph)) == 2
    graph = torch.fx.Graph()
    graph.output(graph.placeholder("x"))
    assert outputs_of(torch.fx.GraphModule({}, graph)) is None
