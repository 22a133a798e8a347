"""A recurrent network of 50 steps, of which one stores its state in eight bits, too few for its numbers.

origin: graph
kind: wrong result
planted: int8
"""

import torch


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
        for position, rows in enumerate(steps.unbind()):
            state = self.cell(rows, state)
            if position == 30:
                stored = (state * 1e12).to(torch.int8)
                state = stored.float() / 128
        return state


torch.manual_seed(0)
print(torch.compile(Model())(torch.randn(50, 3, 8)).sum().item())
