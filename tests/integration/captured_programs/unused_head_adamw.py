"""A head that the loss never reaches keeps a gradient of None, so AdamW does not decay it."""

import torch
from torch import nn

torch.manual_seed(0)


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.used, self.unused = nn.Linear(4, 8), nn.Linear(8, 2), nn.Linear(8, 3)

    def forward(self, x):
        h = torch.relu(self.body(x))
        return self.used(h), self.unused(h)


model = TwoHeads()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, weight_decay=0.5)
for _ in range(5):
    used, _ = model(torch.ones(2, 4))
    optimizer.zero_grad()
    used.pow(2).mean().backward()
    optimizer.step()
print(model.unused.weight.grad, model.unused.weight.tolist())
print(model.used.weight.tolist())
print(len(optimizer.state))
