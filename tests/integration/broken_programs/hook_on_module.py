"""A module registers a hook on its layer in each forward.

kind: fell back to eager
advice: once
"""

import torch

shapes = []


class Watched(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(2, 2)

    def forward(self, x):
        x = x * 2
        handle = self.inner.register_forward_hook(lambda *_: shapes.append(1))
        y = self.inner(x)
        handle.remove()  # cause
        return y.relu()


torch.manual_seed(0)
model = torch.compile(Watched(), backend="eager")
print(model(torch.ones(2)).tolist(), len(shapes))
