"""Layers of a list that each count their steps.

kind: recompile limit
advice: TORCH_COMPILE_DYNAMIC_SOURCES

Made after https://github.com/meta-pytorch/torchtune/pull/1663
"""

import torch


class Running(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
        self.register_buffer("mean", torch.zeros(width))
        self.steps = 3

    def forward(self, x):
        hidden = self.linear(x)
        self.steps += 1  # cause
        self.mean = self.mean + (hidden.mean(0) - self.mean) / self.steps
        return torch.tanh(hidden - self.mean)


class Stack(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(Running(4) for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return x


torch.manual_seed(0)
model = torch.compile(Stack().eval(), backend="eager")
with torch.no_grad():
    for _ in range(11):
        print(round(model(torch.randn(4, 4)).pow(2).mean().item(), 4))
