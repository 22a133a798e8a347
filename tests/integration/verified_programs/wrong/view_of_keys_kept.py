"""A view of a dictionary's keys that is kept over a graph break does not grow with the dictionary.

An idea of our own.
kind: value
stage: tracing
"""

import torch


class Gate(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.project = torch.nn.Linear(4, 4)

    def forward(self, x):
        parts = {"left": 1.0, "right": 2.0}
        names = parts.keys()  # cause
        hidden = self.project(x)
        torch._dynamo.graph_break()
        parts["middle"] = 0.5
        scaled = hidden * sum(parts.values())
        mean = scaled / len(names)
        return mean.sum(dim=0)


torch.manual_seed(0)
gate = torch.compile(Gate(), backend="eager")
print(gate(torch.ones(2, 4)).tolist())
