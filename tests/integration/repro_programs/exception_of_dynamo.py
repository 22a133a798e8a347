"""Dynamo cannot trace a call of print where the whole function is to be one graph.

origin: source
kind: exception
"""

import torch


class Trainer:
    def __init__(self, rate):
        self.rate = rate
        self.seen = []

    def step(self, rows):
        scaled = rows * self.rate
        shifted = scaled + 1
        if shifted.sum() > 0:
            shifted = shifted - 1
        return shifted.relu()


trainer = Trainer(0.5)
compiled = torch.compile(trainer.step, fullgraph=True)
for batch in range(3):
    trainer.seen.append(compiled(torch.ones(4, 4) * batch))
