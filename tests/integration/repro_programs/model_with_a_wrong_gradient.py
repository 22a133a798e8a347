"""A model of more than 300 operations, on AOTAutograd; its backend takes another derivative of one of them.

origin: graph
kind: wrong result
planted: elu
"""

import torch
from torch._dynamo.backends.common import aot_autograd


def forward_compiler(gm, example_inputs):
    return gm.forward


def backward_compiler(gm, example_inputs):
    for node in gm.graph.nodes:
        if node.target is torch.ops.aten.elu_backward.default:
            node.args = (node.args[0], 3.0, *node.args[2:])
    gm.recompile()
    return gm.forward


careless = aot_autograd(fw_compiler=forward_compiler, bw_compiler=backward_compiler)


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.up = torch.nn.Linear(width, 2 * width)
        self.down = torch.nn.Linear(2 * width, width)

    def forward(self, rows):
        hidden = torch.nn.functional.gelu(self.up(self.norm(rows)))
        return torch.tanh(rows) + self.down(hidden * 0.5) + rows.mean(-1, keepdim=True)


class Model(torch.nn.Module):
    def __init__(self, blocks=36, width=8):
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block(width) for _ in range(blocks))

    def forward(self, rows):
        for number, block in enumerate(self.blocks):
            rows = block(rows)
            if number == 12:
                rows = torch.nn.functional.elu(rows)
        return rows


torch.manual_seed(0)
torch.compile(Model(), backend=careless)(torch.randn(4, 8)).sum().backward()
