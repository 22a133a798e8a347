"""A router logs how many tokens each expert gets, as a list.

kind: graph break
advice: after the call of `Moe.forward`

Made after https://github.com/tenstorrent/tt-torch/issues/852
"""

import logging

import torch
from torch import nn

logging.basicConfig(level=logging.INFO)
logger = logging.getLogger("moe")


class Router(nn.Module):
    def __init__(self, dim=8, experts=4):
        super().__init__()
        self.gate = nn.Linear(dim, experts)
        self.experts = experts

    def forward(self, x):
        weight = self.gate(x).softmax(-1)
        top, index = weight.max(-1)
        load = torch.nn.functional.one_hot(index, self.experts).sum(0)
        logger.debug("router load %s", load.tolist())  # cause
        return top, index


class Moe(nn.Module):
    def __init__(self, dim=8, experts=4):
        super().__init__()
        self.router = Router(dim, experts)
        self.weight = nn.Parameter(torch.randn(experts, dim, dim) * 0.1)

    def forward(self, x):
        top, index = self.router(x)
        return x + top.unsqueeze(-1) * torch.einsum("nd,nde->ne", x, self.weight[index])


torch.manual_seed(0)
model = Moe()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
step = torch.compile(model, backend="eager")
for i in range(5):
    x = torch.randn(16, 8)
    loss = step(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(i, f"{loss.item():.4f}")
