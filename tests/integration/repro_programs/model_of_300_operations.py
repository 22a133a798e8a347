"""A model of more than 300 operations, in whose backend one of them is planted wrong.

origin: graph
kind: wrong result
planted: softplus
"""

import torch


def planted(gm, example_inputs):
    softplus = [node for node in gm.graph.nodes if node.target is torch.nn.functional.softplus]
    for node in softplus:
        node.kwargs = {**node.kwargs, "beta": 0.25}
    gm.recompile()
    return gm.forward


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.up = torch.nn.Linear(width, 2 * width)
        self.down = torch.nn.Linear(2 * width, width)

    def forward(self, rows):
        hidden = torch.nn.functional.gelu(self.up(self.norm(rows)))
        rows = torch.tanh(rows) + 0.5 * self.down(hidden)
        return rows * torch.sigmoid(hidden).mean() + rows.mean(-1, keepdim=True)


class Model(torch.nn.Module):
    def __init__(self, blocks=26, width=16):
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block(width) for _ in range(blocks))

    def forward(self, rows):
        for number, block in enumerate(self.blocks):
            rows = block(rows)
            if number == 21:
                rows = torch.nn.functional.softplus(rows)
        return rows


torch.manual_seed(0)
print(torch.compile(Model(), backend=planted)(torch.randn(4, 16)).sum().item())
