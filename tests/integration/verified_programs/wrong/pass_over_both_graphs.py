"""A pass of the program's own over the joint graph leaves out every negation: one is in the backward.

Planted.
kind: gradient
stage: inductor
"""

import torch
import torch._inductor.config as inductor


def drop_signs(graph):
    """Takes each negation for nothing."""
    for node in list(graph.nodes):
        if node.target is torch.ops.aten.neg.default:
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)


class Energy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.center = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))
        self.scale = torch.nn.Parameter(torch.tensor(0.5))

    def distance(self, x):
        return x - self.center  # cause

    def forward(self, x):
        y = torch.tanh(x) * self.scale
        d = self.distance(y)
        energy = (d * d).sum()
        return energy + y.mean()


inductor.joint_custom_pre_pass = drop_signs
energy = Energy()
torch.compile(energy)(torch.tensor([0.1, 0.2, 0.3])).backward()
print(energy.center.grad.tolist(), energy.scale.grad.item())
