"""A moving average of the weights is kept without gradients."""

import torch

torch.manual_seed(0)
layer = torch.nn.Linear(2, 2)
average = [each.detach().clone() for each in layer.parameters()]


@torch.compile(backend="aot_eager")
@torch.no_grad()
def keep():
    for mean, value in zip(average, layer.parameters(), strict=True):
        mean.lerp_(value, 0.1)


for _ in range(4):
    with torch.no_grad():
        layer.weight.add_(1)
    keep()
print(average[0].sum().item() > 0)
