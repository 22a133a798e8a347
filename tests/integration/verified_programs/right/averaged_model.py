"""An averaged copy of the model is updated after each step, and compiled as well."""

import torch
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4))
average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9), use_buffers=True)
step, evaluate = torch.compile(model), torch.compile(average)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for k in range(4):
    optimizer.zero_grad()
    step(torch.arange(12.0).reshape(3, 4) + k).square().mean().backward()
    optimizer.step()
    average.update_parameters(model)
    with torch.no_grad():
        evaluate(torch.ones(3, 4))
print(int(average.n_averaged), round(float(average.module[1].running_mean.sum()), 2))
