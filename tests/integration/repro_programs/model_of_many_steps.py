"""A recurrent network of 60 steps, in one of which its backend adds instead of multiplying.

origin: graph
kind: wrong result
planted: *
"""

import operator

import torch


def planted(gm, example_inputs):
    products = [node for node in gm.graph.nodes if node.target is operator.mul]
    for product in products[110:111] or products[:1]:
        product.target = operator.add
    gm.recompile()
    return gm.forward


class Cell(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.kept = torch.nn.Linear(2 * width, width)
        self.new = torch.nn.Linear(2 * width, width)

    def forward(self, rows, state):
        both = torch.cat([rows, state], dim=-1)
        kept = torch.sigmoid(self.kept(both))
        return state * kept + torch.tanh(self.new(both)) * (1 - kept)


class Model(torch.nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.cell = Cell(width)

    def forward(self, steps):
        state = torch.zeros_like(steps[0])
        for rows in steps.unbind():
            state = self.cell(rows, state)
        return state


torch.manual_seed(0)
print(torch.compile(Model(), backend=planted)(torch.randn(60, 3, 8)).sum().item())
