"""torch.utils.checkpoint with use_reentrant both ways, dropout inside, gradients as without it."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, reentrant):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 4))
        self.reentrant = reentrant

    def forward(self, x):
        if self.reentrant is None:
            return x + self.net(x)
        return x + checkpoint(self.net, x, use_reentrant=self.reentrant)


for reentrant in (None, False, True):
    torch.manual_seed(1)
    block = Block(reentrant)
    for _ in range(2):
        x = torch.ones(3, 4, requires_grad=True)
        loss = block(x).pow(2).sum()
        loss.backward()
        print(reentrant, loss.item(), x.grad.sum().item(), block.net[0].weight.grad.norm().item())
    print(torch.rand(1).item())
layers = nn.Sequential(*[nn.Linear(4, 4) for _ in range(4)])
x = torch.ones(2, 4, requires_grad=True)
checkpoint_sequential(layers, 2, x, use_reentrant=False).sum().backward()
print(x.grad.tolist())
