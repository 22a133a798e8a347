import torch
from torch import nn


class Inverted(nn.Module):
    def chances(self, count):
        gate = torch.bernoulli(torch.full((1,), 0.6))
        if gate.sum() == 1:
            chances = torch.bernoulli(torch.full((count,), 0.5))
        else:
            chances = torch.zeros(count)
        return chances

    def forward(self, x, chances):
        chosen = chances[:, None]
        return chosen * (1 - x) + (1 - chosen) * x


torch.manual_seed(0)
plain = Inverted()
model = torch.compile(plain, backend="eager")
for _ in range(6):
    x = torch.rand(4, 3)
    print(round(model(x, plain.chances(4)).sum().item(), 4))
