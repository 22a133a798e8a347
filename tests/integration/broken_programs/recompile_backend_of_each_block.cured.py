"""Each block of a model is compiled with a backend that is made for it."""

import torch
from torch._dynamo.backends.common import aot_autograd


def counting(counts):
    def count(graph, example_inputs):
        counts.append(len(graph.graph.nodes))
        return graph

    return aot_autograd(fw_compiler=count)


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        return x + self.linear(x).tanh()


torch.manual_seed(0)
blocks, counts = [], []
one_backend = counting(counts)
for block in [Block() for _ in range(10)]:
    blocks.append(torch.compile(block, backend=one_backend))
x = torch.ones(2, 4)
with torch.no_grad():
    for _ in range(2):
        for block in blocks:
            x = block(x)
        print(round(x.sum().item(), 4))
