"""A step count in a training loop of one's own.

kind: recompile
advice: TORCH_COMPILE_DYNAMIC_SOURCES
"""

import torch


@torch.compile(backend="eager")
def loss_of(model, x, step):
    return (model(x) ** 2).mean() * (step + 1)  # cause


torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(5):
    loss = loss_of(model, torch.ones(2, 4), step)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(round(loss.item(), 4))
