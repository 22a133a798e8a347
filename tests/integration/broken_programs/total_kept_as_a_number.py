"""A layer adds up what it sees while it is trained, as a number that it keeps from call to call.

kind: graph break
advice: keep a tensor from call to call
"""

import torch


class Counts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
        self.total = 0.0

    def forward(self, x):
        y = self.layer(x).sin()
        self.total += y.max().item()  # cause
        return y * 2


torch.manual_seed(0)
module = Counts()
counts = torch.compile(module, backend="aot_eager")
for number in range(12):
    counts(torch.full((4,), float(number))).sum().backward()
print(round(float(module.total), 3), round(module.layer.weight.grad.sum().item(), 3))
