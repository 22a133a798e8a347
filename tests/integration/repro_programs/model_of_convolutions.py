"""A model of convolutions; its backend takes the largest values where the mean is asked for.

origin: graph
kind: wrong result
planted: avg_pool2d
"""

import torch
from torch.nn.functional import avg_pool2d, max_pool2d


def planted(gm, example_inputs):
    for node in gm.graph.nodes:
        if node.target is avg_pool2d or node.target is torch._C._nn.avg_pool2d:
            node.target = max_pool2d
    gm.recompile()
    return gm.forward


class Block(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.wide = torch.nn.Conv2d(channels, channels, 3, padding=1)
        self.narrow = torch.nn.Conv2d(channels, channels, 1)
        self.norm = torch.nn.GroupNorm(2, channels)

    def forward(self, images):
        hidden = torch.relu(self.norm(self.wide(images)))
        gate = torch.sigmoid(self.narrow(hidden).mean((2, 3), keepdim=True))
        return images + hidden * gate


class Model(torch.nn.Module):
    def __init__(self, blocks=40, channels=4):
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block(channels) for _ in range(blocks))

    def forward(self, images):
        for number, block in enumerate(self.blocks):
            images = block(images)
            if number == 8:
                images = avg_pool2d(images, 2)
        return images.flatten(1)


torch.manual_seed(0)
model = torch.compile(Model(), backend=planted)
print(model(torch.randn(2, 4, 8, 8)).sum().item())
