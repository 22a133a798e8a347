"""Hidden states are kept with their graph between calls; one backward goes through several forwards."""

import torch
from torch import nn

torch.manual_seed(0)


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.GRUCell(2, 4), nn.Linear(4, 1)
        self.state = None

    def forward(self, x):
        self.state = self.cell(x, self.state)
        return self.out(self.state)


model = Cell()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for chunk in range(3):
    losses = [model(torch.randn(1, 2)).pow(2).mean() for _ in range(4)]
    optimizer.zero_grad()
    torch.stack(losses).sum().backward()
    optimizer.step()
    print(chunk, [loss.item() for loss in losses], model.state.grad_fn is None)
    model.state = model.state.detach()
try:
    loss = model(torch.ones(1, 2)).sum()
    loss.backward()
    model(torch.ones(1, 2)).sum().backward()
except RuntimeError as error:
    print(type(error).__name__, str(error)[:48])
