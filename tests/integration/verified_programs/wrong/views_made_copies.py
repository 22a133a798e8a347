"""A backend of the program's own makes a copy of each slice, so that what is written to one is lost.

Planted.
kind: value
stage: copying
"""

import operator

import torch


def copying(gm, inputs):
    for node in list(gm.graph.nodes):
        if node.target is operator.getitem and isinstance(node.args[1], tuple):
            with gm.graph.inserting_after(node):
                copied = gm.graph.call_method("clone", (node,))
            node.replace_all_uses_with(copied, delete_user_cb=lambda user, own=copied: user is not own)
    gm.recompile()
    return gm.forward


def halves(x):
    middle = x.shape[1] // 2
    return x[:, :middle], x[:, middle:]  # cause


class Rotary(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.angle = 0.3

    def forward(self, x):
        x = x * 1.5
        first, second = halves(x)
        turned = first * self.angle - second
        first.copy_(turned)
        norm = x.square().sum(dim=1)
        return norm.sqrt()


rotary = torch.compile(Rotary(), backend=copying)
print(rotary(torch.arange(8.0).reshape(2, 4)))
