"""A backend's pass leaves out what multiplies by one, which is right, and merges limits, which is not.

Planted.
kind: value
stage: tidy
"""

import operator

import torch


def tidy(gm, inputs):
    for node in list(gm.graph.nodes):
        if node.target is operator.mul and node.args[1] == 1:
            node.replace_all_uses_with(node.args[0])
            gm.graph.erase_node(node)
        elif node.target == "clamp" and getattr(node.args[0], "target", None) == "clamp":
            inner = node.args[0]
            node.args = (inner.args[0], *node.args[1:])
            gm.graph.erase_node(inner)
    gm.recompile()
    return gm.forward


class Mixer:
    def __init__(self):
        self.gain = 1

    def limit(self, x):
        x = (x * self.gain).clamp(-0.8, 0.8)
        return x.clamp(-1.0, 1.0)  # cause


mixer = Mixer()
limit = torch.compile(mixer.limit, backend=tidy)
print(limit(torch.linspace(-2, 2, 9)))
