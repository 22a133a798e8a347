"""forward keeps an intermediate on self with retain_grad; a regulariser uses it in the loss."""

import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 5), nn.Linear(5, 1)
        self.activation = None

    def forward(self, x):
        self.activation = torch.relu(self.first(x))
        if self.activation.requires_grad:
            self.activation.retain_grad()
        return self.second(self.activation)


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    out = model(torch.randn(4, 3))
    loss = out.pow(2).mean() + 0.1 * model.activation.abs().mean()
    optimizer.zero_grad()
    loss.backward()
    print(step, loss.item(), model.activation.grad.abs().sum().item(), model.activation.is_leaf)
    optimizer.step()
with torch.no_grad():
    model(torch.ones(1, 3))
print(model.activation.tolist(), model.activation.grad)
