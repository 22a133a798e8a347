"""A whole training step in one function, with a learning rate that changes outside of it."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 5), nn.ELU(), nn.Linear(5, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)


def train_step(x, y, *, clip=None):
    optimizer.zero_grad()
    prediction = model(x)
    loss = nn.functional.huber_loss(prediction, y)
    loss.backward()
    norm = None if clip is None else nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
    return loss.detach(), norm


for step in range(5):
    x = torch.randn(6, 3)
    loss, norm = train_step(x, x.sum(1, keepdim=True), clip=0.5 if step % 2 else None)
    scheduler.step()
    print(step, loss.item(), None if norm is None else norm.item(), scheduler.get_last_lr())
state = optimizer.state_dict()
print([(type(v).__name__, v) for v in state["param_groups"][0].values() if not isinstance(v, list)])
print(
    {k: (type(v).__name__, tuple(v.shape)) for k, v in state["state"][0].items()}, state["state"][0]["step"]
)
