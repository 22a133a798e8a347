"""A network writes the mean and the spread of each layer into a dictionary, under the layer's name.

kind: fell back to eager
advice: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS

An idea of our own.
"""

import itertools

import torch
from torch import nn


class Mlp(nn.Module):
    def __init__(self, sizes=(6, 12, 12, 4)):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in itertools.pairwise(sizes))
        self.act = nn.ReLU()
        self.stats = {}

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x)
            self.stats[f"layer_{i}/mean"] = x.mean().item()  # cause
            self.stats[f"layer_{i}/std"] = x.std().item()
            if i < len(self.layers) - 1:
                x = self.act(x)
        return x


torch.manual_seed(0)
model = Mlp()
compiled = torch.compile(model, backend="aot_eager")
opt = torch.optim.SGD(model.parameters(), lr=0.05)
history = []
for it in range(4):
    x, y = torch.randn(10, 6), torch.randint(0, 4, (10,))
    loss = nn.functional.cross_entropy(compiled(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    history.append(dict(model.stats))
for name in history[0]:
    print(name, [round(each[name], 3) for each in history])
