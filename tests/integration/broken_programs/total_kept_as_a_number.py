"""A module adds up what it sees, as a number that it keeps from call to call.

kind: graph break
advice: keep a tensor from call to call
"""

import torch


class Counts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.total = 0.0

    def forward(self, x):
        y = x.sin()
        self.total += y.max().item()  # cause
        return y * 2


module = Counts()
counts = torch.compile(module, backend="eager")
for number in range(12):
    print(counts(torch.full((4,), float(number))).tolist())
print(round(float(module.total), 3))
