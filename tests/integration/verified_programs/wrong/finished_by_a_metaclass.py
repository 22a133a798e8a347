"""What a metaclass does with each new object is left out.

An idea of our own.
kind: value
stage: tracing
"""

import torch


class Checked(type):
    def __call__(cls, *given, **named):
        made = super().__call__(*given, **named)
        made.finish()
        return made


class Schedule(metaclass=Checked):
    def __init__(self, first, last):
        self.first = first
        self.last = last
        self.width = 1.0

    def finish(self):
        self.width = self.last - self.first

    def at(self, part):
        return self.first + part * self.width


class Annealed(torch.nn.Module):
    def __init__(self, steps):
        super().__init__()
        self.steps = steps
        self.bias = torch.nn.Parameter(torch.zeros(3))

    def rates(self):
        schedule = Schedule(0.5, 4.5)  # cause
        return [schedule.at(step / self.steps) for step in range(self.steps)]

    def forward(self, scores):
        centred = scores - scores.mean()
        total = self.bias
        for rate in self.rates():
            total = total + torch.softmax(centred / rate, 0)
        return total


model = torch.compile(Annealed(4), backend="eager")
print(model(torch.tensor([1.0, 2.0, 4.0])).tolist())
