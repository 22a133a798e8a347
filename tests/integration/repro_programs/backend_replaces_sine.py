"""A backend of the user's computes cosine where the graph has sine.

origin: graph
kind: wrong result
"""

import torch


def careless(gm, example_inputs):
    for node in gm.graph.nodes:
        if node.target is torch.sin:
            node.target = torch.cos
    gm.recompile()
    return gm.forward


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(8, 16)
        self.second = torch.nn.Linear(16, 4)

    def forward(self, rows):
        hidden = torch.relu(self.first(rows))
        return self.second(torch.sin(hidden) + 1).sum()


model = torch.compile(Net(), backend=careless)
model(torch.randn(5, 8)).backward()
