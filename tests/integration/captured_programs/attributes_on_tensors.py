"""Python attributes set on parameters, inputs and outputs, inside functions and outside of them."""

import torch
from torch import nn

torch.manual_seed(0)
layer = nn.Linear(3, 2)
layer.weight.no_decay = True


def annotate(x):
    out = layer(x)
    out.source = getattr(x, "source", "nowhere")
    x.visited = getattr(x, "visited", 0) + 1
    if getattr(layer.weight, "no_decay", False):
        out.info = {"decay": 0.0, "shape": tuple(out.shape)}
    return out


x = torch.ones(1, 3)
for name in (None, "file", "net"):
    if name is not None:
        x.source = name
    out = annotate(x)
    print(out.source, out.info, x.visited, sorted(vars(x)))
print(annotate(torch.zeros(1, 3)).source, vars(layer.weight))
