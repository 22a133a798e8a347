"""A graph network takes its next edges from a generator that it was given.

kind: graph break
advice: before the call of `GraphTrainer.step`

Made after https://github.com/pytorch/pytorch/issues/146340
"""

import torch
from torch import nn


def neighbour_sampler(nodes, edges, seed=0):
    generator = torch.Generator().manual_seed(seed)
    while True:
        yield torch.randint(0, nodes, (2, edges), generator=generator)


class GraphLayer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.own = nn.Linear(width, width)
        self.others = nn.Linear(width, width, bias=False)

    def forward(self, x, edges):
        source, target = edges
        messages = self.others(x[source])
        gathered = torch.zeros_like(x).index_add(0, target, messages)
        return torch.relu(self.own(x) + gathered)


class GraphTrainer(nn.Module):
    def __init__(self, sampler, width=6):
        super().__init__()
        self.sampler = sampler
        self.layers = nn.ModuleList(GraphLayer(width) for _ in range(2))
        self.readout = nn.Linear(width, 1)

    def step(self, x):
        x = x / x.norm(dim=-1, keepdim=True)
        edges = next(self.sampler)  # cause
        for layer in self.layers:
            x = layer(x, edges)
        return self.readout(x).mean()


torch.manual_seed(0)
trainer = GraphTrainer(neighbour_sampler(10, 24))
step = torch.compile(trainer.step, backend="aot_eager")
optimizer = torch.optim.Adam(trainer.parameters(), lr=0.01)
features = torch.randn(10, 6)
for number in range(4):
    optimizer.zero_grad()
    loss = step(features)
    loss.backward()
    optimizer.step()
    print(number, round(loss.item(), 4))
