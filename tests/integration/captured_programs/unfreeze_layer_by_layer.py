"""requires_grad_ on layers between steps: gradients come to those that are not frozen just then."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2))
x = torch.ones(4, 3)


def show(what):
    net.zero_grad()
    try:
        net(x).sum().backward()
        print(what, [None if p.grad is None else p.grad.sum().item() for p in net.parameters()])
    except RuntimeError as error:
        print(what, error)


net[0].requires_grad_(False)
show("only the head")
net[0].requires_grad_(True)
show("all")
net[1].requires_grad_(False)
show("all but the head")
net.requires_grad_(False)
show("nothing")
net.requires_grad_(True)
show("all again")
