"""A compiled optimizer of which the learning rate decays.

kind: recompile
advice: lr=torch.tensor
"""

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


@torch.compile(backend="eager")
def step():
    optimizer.step()  # cause


for _ in range(5):
    net(torch.ones(2, 4)).sum().backward()
    step()
    optimizer.zero_grad()
    optimizer.param_groups[0]["lr"] *= 0.9
    print(round(net.weight.sum().item(), 4))
