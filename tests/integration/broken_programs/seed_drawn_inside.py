"""A layer draws a seed in its forward pass, so that its backward pass can repeat the dropout.

kind: graph break
advice: all of it

Made after https://github.com/pytorch/pytorch/issues/101154
"""

import sys

import torch


class Layer(torch.nn.Module):
    seed = None

    def draw_seed(self):
        self.seed = int(torch.seed() % sys.maxsize)
        torch.manual_seed(self.seed)  # cause

    def forward(self, x):
        y = torch.relu(x)
        self.draw_seed()
        return y + torch.dropout(y, 0.5, True)


layer = Layer()
compiled = torch.compile(layer, backend="eager")
for _ in range(3):
    print(tuple(compiled(torch.ones(4)).shape), layer.seed is None)
