"""An averaged copy of a model follows it, and is called beside it; AveragedModel does the same."""

import copy

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

torch.manual_seed(0)
student = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))
teacher = copy.deepcopy(student).requires_grad_(False)
averaged = AveragedModel(student, multi_avg_fn=get_ema_multi_avg_fn(0.9))
optimizer = torch.optim.SGD(student.parameters(), lr=0.2)


@torch.no_grad()
def update(target, source, decay):
    for t, s in zip(target.parameters(), source.parameters(), strict=True):
        t.lerp_(s, 1 - decay)


for step in range(4):
    x = torch.randn(6, 3)
    loss = nn.functional.mse_loss(student(x), teacher(x) + 1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    update(teacher, student, 0.8)
    averaged.update_parameters(student)
    print(step, loss.item(), teacher(x).sum().item(), averaged(x).sum().item())
print([p.grad for p in teacher.parameters()], averaged.n_averaged.item())
