"""Where a graph's operators are registered, as torch knows it."""

import torch

from dynamo_core.capture.probes.graphs import custom_operators


def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def empty(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


torch.library.custom_op("dynamo_cli_tests::doubled", doubled, mutates_args=())
_LIBRARY = torch.library.Library("dynamo_cli_tests", "FRAGMENT")
_LIBRARY.define("halved(Tensor x) -> Tensor")


torch.library.register_fake("dynamo_cli_tests::halved", empty)


def test_of_operators_that_python_registered() -> None:
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    x = graph.call_function(torch.ops.dynamo_cli_tests.doubled.default, (x,))
    x = graph.call_function(torch.ops.dynamo_cli_tests.halved, (x,))
    x = graph.call_function(torch.ops.aten.neg.default, (x,))
    graph.output(graph.call_function(torch.abs, (x,)))
    found = custom_operators(torch.fx.GraphModule(torch.nn.Module(), graph))
    assert list(found) == ["dynamo_cli_tests::doubled", "dynamo_cli_tests::halved"]
    for source, line in zip(found.values(), (8, 21), strict=True):
        assert source == {"file": __file__, "line": line, "module": __name__}
