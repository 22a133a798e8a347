"""A learning rate follows a schedule, and the gradients are clipped."""

import torch

torch.manual_seed(0)
layer = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)


@torch.compile(backend="aot_eager")
def loss_of(x):
    return layer(x).square().sum()


for _ in range(4):
    optimizer.zero_grad()
    loss_of(torch.ones(3, 2)).backward()
    norm = torch.nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    print(f"{norm.item():.3f} {optimizer.param_groups[0]['lr']}")
