"""An operator declares that it writes one argument, and writes another one as well.

After pytorch/pytorch#131197.
kind: value
stage: inductor
"""

import torch


@torch.library.custom_op("corpus::shift_pair", mutates_args=("left",))
def shift_pair(left: torch.Tensor, right: torch.Tensor) -> None:
    left.add_(1.0)
    right.sub_(left.mean())


class Pair(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rate = 0.5

    def balanced(self, left, right):
        left = left * self.rate
        right = right + 1.0
        sums = right * 3.0
        shift_pair(left, right)  # cause
        return sums + left, right

    def forward(self, x):
        left, right = self.balanced(x, torch.cos(x))
        return left * right


pair = torch.compile(Pair())
print(pair(torch.linspace(-1.0, 1.0, 8)))
