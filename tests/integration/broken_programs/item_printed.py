"""A loss is printed by the step.

kind: graph break
advice: print or log after the call
"""

import torch

model = torch.nn.Linear(4, 2)


@torch.compile(backend="eager")
def step(x):
    loss = model(x).square().mean()
    print(f"loss {loss.item():.4f}")  # cause
    return loss * 2


torch.nn.init.ones_(model.weight)
torch.nn.init.zeros_(model.bias)
for factor in range(3):
    step(torch.ones(2, 4) * factor)
