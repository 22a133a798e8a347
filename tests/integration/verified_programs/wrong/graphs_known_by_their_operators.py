"""A backend of the program's own takes graphs with the same operators for one, whatever their numbers are.

Planted.
kind: value
stage: storing
"""

import torch

stored = {}


def storing(gm, inputs):
    key = tuple(str(node.target) for node in gm.graph.nodes)
    return stored.setdefault(key, gm.forward)


class Schedule:
    def __init__(self):
        self.rate = 0.5

    def step(self, x):
        x = x * 2.0
        x = x - x.mean()
        x = x * self.rate  # cause
        return x + 1.0


schedule = Schedule()
step = torch.compile(schedule.step, backend=storing)
print(step(torch.arange(4.0)))
schedule.rate = 0.25
torch._dynamo.reset()
print(torch.compile(schedule.step, backend=storing)(torch.arange(4.0)))
