"""A model of attention layers; its backend leaves out the scale of one.

origin: graph
kind: wrong result
planted: scaled_dot_product_attention
"""

import torch
from torch.nn.functional import scaled_dot_product_attention


def planted(gm, example_inputs):
    layers = [node for node in gm.graph.nodes if node.target is scaled_dot_product_attention]
    for layer in layers[11:12] or layers[:1]:
        layer.kwargs = {**layer.kwargs, "scale": 1.0}
    gm.recompile()
    return gm.forward


class Layer(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.projected = torch.nn.Linear(width, 3 * width)
        self.joined = torch.nn.Linear(width, width)
        self.norm = torch.nn.LayerNorm(width)

    def forward(self, rows):
        queries, keys, values = self.projected(self.norm(rows)).chunk(3, dim=-1)
        heads = [each.unflatten(-1, (2, -1)).transpose(1, 2) for each in (queries, keys, values)]
        joined = scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2)
        return rows + self.joined(joined) * 3


class Model(torch.nn.Module):
    def __init__(self, layers=20, width=16):
        super().__init__()
        self.layers = torch.nn.ModuleList(Layer(width) for _ in range(layers))

    def forward(self, rows):
        for layer in self.layers:
            rows = layer(rows)
        return rows


torch.manual_seed(0)
model = torch.compile(Model(), backend=planted)
with torch.no_grad():
    print(model(torch.randn(2, 5, 16) * 4).sum().item())
