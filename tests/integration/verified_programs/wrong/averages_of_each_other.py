"""Two lists that have the same tensors are added to each other: the second sum does not see the first.

An idea of our own.
kind: value
stage: AOTAutograd
"""

import torch


class Pair(torch.nn.Module):
    """Two states that pull each other."""

    def __init__(self):
        super().__init__()
        self.register_buffer("fast", torch.tensor([1.0, 2.0, 3.0]))
        self.register_buffer("slow", torch.tensor([0.5, 0.5, 0.5]))

    def pull(self, step):
        fast, slow = self.fast.clone(), self.slow.clone()
        torch._foreach_mul_([fast, slow], step)
        torch._foreach_add_([fast, slow], [slow, fast])  # cause
        return fast, slow

    def forward(self, x):
        y = x - x.mean()
        fast, slow = self.pull(0.5)
        z = y * fast
        return z + slow


pair = torch.compile(Pair(), backend="aot_eager")
print(pair(torch.tensor([1.0, 4.0, 7.0])).tolist())
