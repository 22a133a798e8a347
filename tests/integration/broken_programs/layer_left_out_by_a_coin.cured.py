import random

import torch
from torch import nn


@torch.compile(backend="eager")
def one_layer(layer, x):
    return x + layer(x).tanh()


class Decoder(nn.Module):
    def __init__(self, dim=6, layers=3, drop=0.4):
        super().__init__()
        self.drop = drop
        self.layers = nn.ModuleList(nn.Linear(dim, dim) for _ in range(layers))
        self.head = nn.Linear(dim, 1)

    def forward(self, x):
        for layer in self.layers:
            coin = random.random()
            if self.training and coin < self.drop:
                continue
            x = one_layer(layer, x)
        return self.head(x)


torch.manual_seed(0)
random.seed(0)
decoder = Decoder()
optimizer = torch.optim.Adam(decoder.parameters(), lr=0.05)
step = decoder
for _ in range(5):
    loss = step(torch.ones(4, 6)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.5f}")
