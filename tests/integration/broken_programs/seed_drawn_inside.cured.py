"""The seed is drawn and set before the call."""

import sys

import torch


class Layer(torch.nn.Module):
    seed = None

    def draw_seed(self):
        self.seed = int(torch.seed() % sys.maxsize)
        torch.manual_seed(self.seed)

    def forward(self, x):
        y = torch.relu(x)
        return y + torch.dropout(y, 0.5, True)


layer = Layer()
compiled = torch.compile(layer, backend="eager")
for _ in range(3):
    layer.draw_seed()
    print(tuple(compiled(torch.ones(4)).shape), layer.seed is None)
