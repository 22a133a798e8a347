"""A scaler of gradients meets infinite ones, and leaves a step out."""

import torch

torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
step = torch.compile(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**120, growth_interval=2)
for _ in range(4):
    optimizer.zero_grad()
    loss = step(torch.full((3, 4), 1e3)).square().mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    print(f"{scaler.get_scale():.3g}")
