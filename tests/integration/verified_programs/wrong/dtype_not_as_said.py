"""An operator of the program's gives float64, and its function for tracing says float32.

After https://github.com/pytorch/pytorch/issues/152002
kind: dtype
stage: AOTAutograd
"""

import torch


@torch.library.custom_op("windows::weighted", mutates_args=())
def weighted(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Sums with the exactness of float64."""
    return x.double() * weight.double()


@weighted.register_fake
def _(x, weight):
    return torch.empty_like(x)


class Window(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.linspace(0.5, 1.5, 4))
        self.scale = 2.0

    def forward(self, x):
        y = torch.relu(x - 0.5)
        y = weighted(y, self.weight)  # cause
        z = y * self.scale
        z = z + 1.0
        return z.to(torch.float32)


window = torch.compile(Window())
print(window(torch.arange(8.0).reshape(2, 4)).tolist())
