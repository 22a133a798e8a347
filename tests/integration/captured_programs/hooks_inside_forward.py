"""forward itself registers hooks on its tensors, with closures over what it knows, and prints from them."""

import torch
from torch import nn

torch.manual_seed(0)
norms = {}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(2))

    def forward(self, x):
        for index, layer in enumerate(self.layers):
            x = layer(x).tanh()
            if x.requires_grad:
                x.register_hook(lambda g, index=index: norms.update({index: g.norm().item()}))
                x.register_hook(lambda g: g.clamp(-0.01, 0.01))
        return x


model = Net()
for step in range(3):
    model.zero_grad()
    model(torch.full((1, 3), step + 1.0)).pow(2).sum().backward()
    print(step, sorted(norms.items()), model.layers[0].weight.grad.abs().sum().item())
with torch.no_grad():
    print(model(torch.ones(1, 3)).tolist())
