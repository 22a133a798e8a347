"""A pass of the program's own over what Inductor is given makes a leaky activation a plain one.

Planted.
kind: value
stage: inductor
"""

import torch
import torch._inductor.config
import torch.nn.functional as F


def without_slopes(graph):
    for node in graph.nodes:
        if node.target is F.leaky_relu:
            node.target = F.relu
            node.args, node.kwargs = node.args[:1], {}


torch._inductor.config.pre_grad_custom_pass = without_slopes


class Critic(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 4)
        self.activations = torch.nn.ModuleList([torch.nn.Tanh(), torch.nn.LeakyReLU(0.3)])
        self.last = torch.nn.Linear(4, 1)

    def forward(self, x):
        x = self.first(x)
        for activation in self.activations:
            x = activation(x) - 0.2  # cause
        return self.last(x)


torch.manual_seed(0)
critic = torch.compile(Critic())
with torch.no_grad():
    print(critic(torch.linspace(-1.0, 1.0, 8).reshape(2, 4)))
