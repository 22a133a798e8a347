"""The first batch is as large as a layer's features: dynamic sizes that are equal are taken for one.

kind: recompile
advice: TORCH_COMPILE_DYNAMIC_SOURCES
"""

import torch

layer = torch.nn.Linear(8, 8)
torch.nn.init.ones_(layer.weight)
torch.nn.init.zeros_(layer.bias)


@torch.compile(backend="eager", dynamic=True)
def scored(rows):
    return layer(rows).sum()  # cause


with torch.no_grad():
    for count in (8, 6, 5):
        print(scored(torch.ones(count, 8)).item())
