"""A gradient penalty through a critic with dropout and batch norm, whose statistics move once a step."""

import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(
    nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Dropout(0.4), nn.Linear(8, 1), nn.Softplus()
)
optimizer = torch.optim.SGD(critic.parameters(), lr=0.05)
for step in range(3):
    x = torch.randn(6, 4, requires_grad=True)
    score = critic(x)
    (gradient,) = torch.autograd.grad(score.sum(), x, create_graph=True)
    loss = score.mean() + (gradient.norm(dim=1) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), critic[1].running_var.sum().item(), critic[1].num_batches_tracked.item())
    print(torch.rand(1).item(), critic[0].weight.grad.norm().item())
