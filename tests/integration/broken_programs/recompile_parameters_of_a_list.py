"""An optimizer treats parameters of many shapes by one function.

kind: recompile limit
advice: TORCH_COMPILE_DYNAMIC_SOURCES

Made after https://github.com/microsoft/dion/issues/23
"""

import torch


@torch.compile(backend="eager")
def update(weights):
    return [weight * 0.5 for weight in weights]  # cause


for size in range(3, 14):
    print(update([torch.nn.Parameter(torch.ones(4, size))])[0].sum().item())
