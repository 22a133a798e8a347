"""A function that the program has promised to be constant gives another number now.

After the warning in PyTorch's page on torch.compiler.assume_constant_result.
kind: value
stage: guards
"""

import torch


class Schedule:
    def __init__(self):
        self.step = 1

    @torch.compiler.assume_constant_result
    def temperature(self):
        return 1.0 / self.step


class Attention(torch.nn.Module):
    def __init__(self, schedule):
        super().__init__()
        self.query = torch.nn.Linear(4, 4)
        self.key = torch.nn.Linear(4, 4)
        self.schedule = schedule

    def forward(self, x):
        query = self.query(x)
        key = self.key(x)
        scores = query @ key.T / 2.0
        scores = scores - scores.amax(dim=-1, keepdim=True)
        scores = scores * self.schedule.temperature()  # cause
        weights = torch.softmax(scores, dim=-1)
        return weights @ x


torch.manual_seed(0)
schedule = Schedule()
attention = torch.compile(Attention(schedule), backend="eager")
x = torch.randn(3, 4)
for step in (1, 4):
    schedule.step = step
    print(attention(x).detach())
