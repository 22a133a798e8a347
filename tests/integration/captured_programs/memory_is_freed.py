"""Activations and outputs are gone when the program drops them: weakrefs die, and gradients can be freed."""

import gc
import weakref

import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 4), nn.Linear(4, 2)

    def forward(self, x):
        self.hidden = self.first(x).relu()
        return self.second(self.hidden)


model = Net()
for step in range(3):
    x = torch.randn(5, 3)
    out = model(x)
    references = [weakref.ref(t) for t in (x, out, model.hidden)]
    out.sum().backward()
    del x, out, model.hidden
    gc.collect()
    print(step, [r() is None for r in references])
    model.zero_grad()
reference = weakref.ref(model)
del model
gc.collect()
print(reference() is None)
