"""What is behind a graph break gets tensors of different sizes.

kind: recompile
advice: TORCH_COMPILE_DYNAMIC_SOURCES
"""

import torch


@torch.compiler.disable
def cut(x, n):
    return x[:n]


@torch.compile(backend="eager")
def shortened(x, n):
    y = cut(x, n)
    return y.sin().sum()  # cause


for n in (torch.tensor(3), torch.tensor(4), torch.tensor(5)):
    print(round(shortened(torch.ones(8), n).item(), 4))
