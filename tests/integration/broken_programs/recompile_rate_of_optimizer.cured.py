"""A compiled optimizer of which the learning rate, a tensor, decays."""

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=torch.tensor(0.1))


@torch.compile(backend="eager")
def step():
    optimizer.step()


for _ in range(5):
    net(torch.ones(2, 4)).sum().backward()
    step()
    optimizer.zero_grad()
    optimizer.param_groups[0]["lr"] *= 0.9
    print(round(net.weight.sum().item(), 4))
