"""A loss that reads a value in each of 6,000 steps, and a metric that branches in 3; both also compile.

The metric is large, so that its parts take longer to compile, but most of that stays without the break.
"""
# first: weight
# cure weight: import torch => import torch; torch._dynamo.config.capture_scalar_outputs = True
# cure score: x * 2 if x.max() > 5 else x => torch.where(x.max() > 5, x * 2, x)

import torch


def loss_of(x, y):
    error = (x - y).pow(2)
    weight = float(error.max())  # cause: weight
    return (error * weight).mean()


def metric_of(x):
    for _ in range(20):
        x = torch.tanh(x) * 1.1
    x = x * 2 if x.max() > 5 else x  # cause: score
    for _ in range(20):
        x = torch.tanh(x) * 1.1
    return x.mean()


loss = torch.compile(loss_of, backend="eager")
metric = torch.compile(metric_of, backend="eager")
x, y = torch.ones(8, 8), torch.zeros(8, 8)
for step in range(6000):
    loss(x, y)
    if step % 2000 == 0:
        metric(x)
print("done")
