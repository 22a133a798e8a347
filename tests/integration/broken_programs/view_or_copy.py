"""A layer tries to view a tensor, and copies it where that fails.

kind: compiler error
advice: reshape

Made after a pattern common in threads on `view` and `reshape`.
"""

import torch
from torch import nn


class Flatten(nn.Module):
    def forward(self, x):
        try:
            return x.view(x.shape[0], -1)  # cause
        except RuntimeError:
            return x.contiguous().view(x.shape[0], -1)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(4, 6, 3)
        self.flatten = Flatten()
        self.head = nn.Linear(36, 2)

    def forward(self, x):
        x = torch.relu(self.conv(x)).transpose(1, 2)
        return self.head(self.flatten(x))


torch.manual_seed(0)
model = Model().eval()
compiled = torch.compile(model, backend="eager")


def served(x):
    try:
        return compiled(x)
    except torch._dynamo.exc.TorchRuntimeError:
        return model(x)


with torch.no_grad():
    for _ in range(4):
        print([round(v, 4) for v in served(torch.randn(2, 4, 8)).flatten().tolist()])
