"""A graph network whose messages are summed by scatter (`index_add`), trained on a random graph."""

import torch
from _loops import train
from torch import nn
from torch.nn.functional import cross_entropy, relu

NODES, EDGES, WIDTH, CLASSES = 1000, 8000, 32, 4


class Convolution(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.message, self.own = nn.Linear(2 * WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, nodes: torch.Tensor, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        messages = relu(self.message(torch.cat([nodes[source], nodes[target]], dim=1)))
        summed = torch.zeros_like(nodes).index_add(0, target, messages)
        count = torch.zeros(len(nodes)).index_add(0, target, torch.ones(len(target)))
        return relu(self.own(nodes) + summed / count.clamp(min=1).unsqueeze(1))


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Convolution() for _ in range(2))
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, nodes: torch.Tensor, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            nodes = layer(nodes, source, target)
        return self.head(nodes)


torch.manual_seed(0)
nodes, classes = torch.randn(NODES, WIDTH), torch.randint(CLASSES, (NODES,))
source, target = torch.randint(NODES, (2, EDGES)).unbind()
train(Network(), lambda scores: cross_entropy(scores, classes), nodes, source, target)
