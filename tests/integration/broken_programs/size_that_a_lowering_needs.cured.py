"""The list is made before the call, and its numbers are known."""

import torch

torch._dynamo.config.capture_scalar_outputs = True


def lower_by_sizes(graph, example_inputs):
    values = [node.meta.get("example_value") for node in graph.graph.nodes]
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    assert sum(1 in each.shape for each in tensors) < 100
    return graph


def weigh(x, lengths):
    parts = x.split(lengths)
    return torch.stack([torch.softmax(part, 0).square().sum() for part in parts])


compiled = torch.compile(weigh, backend=lower_by_sizes)
try:
    result = compiled(torch.arange(4.0), [1, 3])
except torch._dynamo.exc.BackendCompilerFailed:
    result = weigh(torch.arange(4.0), [1, 3])
print(result.tolist())
