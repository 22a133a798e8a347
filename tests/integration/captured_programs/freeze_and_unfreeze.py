"""Parameters are frozen and thawed between steps; the optimizer moves only what has gradients."""

import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(4, 6), nn.ReLU())
        self.head = nn.Linear(6, 2)

    def forward(self, x):
        return self.head(self.backbone(x))


model = Net()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.05, weight_decay=0.1)
x, y = torch.randn(6, 4), torch.randint(0, 2, (6,))
for step in range(6):
    if step == 2:
        model.backbone.requires_grad_(False)
    if step == 4:
        model.backbone.requires_grad_(True)
        model.head.weight.requires_grad_(False)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), [p.grad is not None for p in model.parameters()])
print(model.backbone[0].weight.sum().item(), model.head.weight.sum().item())
