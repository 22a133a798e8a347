"""The backend has to know sizes that come out of a tensor; the program goes on without.

kind: compiler error
advice: as a Python number

Made after https://github.com/huggingface/transformers/pull/45816
"""

import torch

torch._dynamo.config.capture_scalar_outputs = True


def lower_by_sizes(graph, example_inputs):
    values = [node.meta.get("example_value") for node in graph.graph.nodes]
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    assert sum(1 in each.shape for each in tensors) < 100  # cause
    return graph


def weigh(x, lengths):
    parts = x.split(lengths.tolist())
    return torch.stack([torch.softmax(part, 0).square().sum() for part in parts])


compiled = torch.compile(weigh, backend=lower_by_sizes)
try:
    result = compiled(torch.arange(4.0), torch.tensor((1, 3)))
except torch._dynamo.exc.BackendCompilerFailed:
    result = weigh(torch.arange(4.0), torch.tensor((1, 3)))
print(result.tolist())
