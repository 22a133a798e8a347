"""A pass of the program's own over the joint graph takes two negations that follow each other out."""

import torch
import torch._inductor.config as inductor

negation = torch.ops.aten.neg.default


def drop_double_signs(graph):
    for node in list(graph.nodes):
        inner = node.args[0] if node.target is negation else None
        if inner is not None and inner.target is negation:
            node.replace_all_uses_with(inner.args[0])
            graph.erase_node(node)


class Energy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.center = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))

    def forward(self, x):
        negative = -(torch.tanh(x) - self.center)
        difference = -negative
        return (difference * difference).sum()


inductor.joint_custom_pre_pass = drop_double_signs
energy = Energy()
torch.compile(energy)(torch.tensor([0.1, 0.2, 0.3])).backward()
print([round(each, 4) for each in energy.center.grad.tolist()])
