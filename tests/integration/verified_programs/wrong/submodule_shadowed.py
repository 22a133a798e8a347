"""An attribute of the object stands before its submodule now.

After pytorch/pytorch#197859.
kind: value
stage: guards
"""

import torch


class Wrapper(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.part = torch.nn.ReLU()

    def forward(self, x):
        return self.part(x) + 1  # cause


wrapper = Wrapper()
step = torch.compile(wrapper, backend="eager")
print(step(-torch.ones(2)))
object.__setattr__(wrapper, "part", torch.nn.Tanh())
print(step(-torch.ones(2)))
