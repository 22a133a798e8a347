"""Which of two objects it is was decided in the first call.

After pytorch/pytorch#196173.
kind: value
stage: guards
"""

import torch


class Holder:
    def __init__(self):
        self.left, self.right = object(), object()
        self.current = self.left


holder = Holder()


@torch.compile(backend="eager")
def step(x):
    return x + 1 if holder.current is holder.left else x - 1  # cause


print(step(torch.ones(2)))
holder.current = holder.right
print(step(torch.ones(2)))
