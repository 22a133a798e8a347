"""The results are views of an argument, in several dtypes, which are written afterwards."""

import torch


@torch.compile(backend="aot_eager")
def step(x):
    as_complex = torch.view_as_complex(x)
    return as_complex, as_complex.real, x.view(torch.int32), x.detach()[0]


x = torch.arange(8.0).view(4, 2)
for _ in range(3):
    as_complex, real, bits, first = step(x)
    real.mul_(2)
    first.add_(1)
    print(x.sum().item(), as_complex.sum().item(), bits.dtype)
