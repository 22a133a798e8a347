"""One model is called several times before one backward: the calls' graphs meet in the parameters."""

import torch
from torch import nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3))
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1, weight_decay=0.01)


def triplet(anchor, positive, negative):
    a, p, n = encoder(anchor), encoder(positive), encoder(negative)
    return nn.functional.triplet_margin_loss(a, p, n), a


for step in range(3):
    x = torch.randn(5, 4)
    loss, anchor = triplet(x, x + 0.1, torch.randn(5, 4))
    with torch.no_grad():
        target = encoder(x + 0.2)
    regulariser = (encoder(x) - target).pow(2).mean() + anchor.pow(2).mean()
    optimizer.zero_grad()
    (loss + 0.1 * regulariser).backward()
    optimizer.step()
    print(step, loss.item(), regulariser.item(), encoder[0].weight.grad.norm().item())
