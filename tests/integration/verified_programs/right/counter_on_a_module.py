"""A module counts its calls."""

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * self.calls


model = Model()
compiled = torch.compile(model, backend="eager")
for _ in range(5):
    print(compiled(torch.ones(2)), model.calls)
