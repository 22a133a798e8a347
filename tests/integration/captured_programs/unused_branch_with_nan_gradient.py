"""An output that is not used has an infinite derivative: zeros times infinity must not reach the weights."""

import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x):
        y = x * self.scale
        return y.sum(), y.sqrt(), y.norm(), y.log()


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss, roots, norm, logs = model(torch.zeros(3))
    optimizer.zero_grad()
    (loss if step != 1 else loss + norm).backward()
    optimizer.step()
    print(step, loss.item(), model.scale.grad.tolist(), model.scale.tolist())
x = torch.zeros(3, requires_grad=True)
total, roots, _, _ = model(x)
print(torch.autograd.grad(total, x)[0].tolist())
