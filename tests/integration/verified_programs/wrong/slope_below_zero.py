"""The backward of an activation in place with a negative slope raises in eager alone.

An idea of our own.
kind: exception
stage: decompositions
"""

import torch
import torch.nn.functional as F


class Branch(torch.nn.Module):
    def __init__(self, slope):
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)
        self.slope = slope

    def forward(self, x):
        x = self.inner(x)
        x = F.leaky_relu_(x, self.slope)  # cause
        return x * 0.5


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.left = Branch(0.1)
        self.right = Branch(-0.1)
        self.last = torch.nn.Linear(4, 1)

    def forward(self, x):
        left = self.left(x)
        right = self.right(x)
        return self.last(torch.tanh(left + right)).mean()


torch.manual_seed(0)
model = Model()
step = torch.compile(model, backend="aot_eager_decomp_partition")
loss = step(torch.ones(2, 4))
try:
    loss.backward()
    print(model.last.weight.grad)
except RuntimeError as error:
    print(type(error).__name__, str(error)[:40])
