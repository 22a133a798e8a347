"""Trains a classifier; the last batch is smaller, and each step prints its loss. By Inductor.

The smaller batch compiles forward and backward once more, seconds each. The print cuts one small graph
off, and costs little in ten steps.
"""
# first: batch
# cure batch: torch.compile(step) => torch.compile(step, dynamic=True)
# cure loss: import torch => import torch; torch._dynamo.config.reorderable_logging_functions.add(print)

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(32, 32), torch.nn.Tanh())
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def step(x, y):
    loss = (model(x) - y).pow(2).mean()  # cause: batch
    print("loss", loss)  # cause: loss
    return loss * 2.0


compiled = torch.compile(step)
data, target = torch.randn(150, 32), torch.rand(150, 32)
for _ in range(2):
    for x, y in zip(data.split(32), target.split(32), strict=True):
        optimizer.zero_grad()
        compiled(x, y).backward()
        optimizer.step()
