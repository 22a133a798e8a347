"""`all` reads nothing off an iterator: it goes on with its first value.

An idea of our own.
kind: value
stage: tracing
"""

import torch


class Plan:
    def __init__(self, steps):
        self.steps = steps

    def rest(self):
        steps = iter(self.steps)
        warm = all(steps)  # cause
        left = list(steps)
        return warm, left


class Decoder(torch.nn.Module):
    def __init__(self, plan):
        super().__init__()
        self.plan = plan
        self.layer = torch.nn.Linear(3, 3)

    def run(self, x):
        warm, left = self.plan.rest()
        if warm:
            return x
        for factor in left:
            x = self.layer(x) * factor
        return x

    def forward(self, x):
        x = torch.tanh(x)
        x = self.run(x)
        return x.mean(dim=0)


torch.manual_seed(0)
decoder = torch.compile(Decoder(Plan((1.0, 0.0, 2.0, 3.0))), backend="eager")
print(decoder(torch.ones(2, 3)).tolist())
