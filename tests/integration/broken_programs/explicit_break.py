"""A break that was asked for.

kind: graph break
advice: torch._dynamo.graph_break()
"""

import torch


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    torch._dynamo.graph_break()  # cause
    return y.cos()


print(model(torch.ones(2)).tolist())
