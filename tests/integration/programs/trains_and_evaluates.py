"""Trains a model and evaluates it without gradients, epoch after epoch, in one compiled function."""

import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.1), torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)


@torch.compile(backend="eager")
def loss_of(x):
    return (net(x) ** 2).mean()


for _ in range(4):
    net.train()
    loss_of(torch.ones(2, 4)).backward()
    optimizer.step()
    optimizer.zero_grad()
    net.eval()
    with torch.no_grad():
        print(round(loss_of(torch.ones(2, 4)).item(), 4))
