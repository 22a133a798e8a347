"""Batch norm writes its running statistics in each call."""

import torch

torch.manual_seed(0)
layers = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU())
model = torch.compile(layers)
for _ in range(4):
    model(torch.randn(2, 3, 6, 6)).sum().backward()
print(layers[1].num_batches_tracked.item(), [round(each, 3) for each in layers[1].running_mean.tolist()])
