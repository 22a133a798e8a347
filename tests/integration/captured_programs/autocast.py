"""autocast on the CPU: dtypes of outputs, of gradients and of the weights, inside and outside of it."""

import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.second = nn.Linear(4, 8), nn.LayerNorm(8), nn.Linear(8, 2)

    def forward(self, x):
        h = self.norm(self.first(x))
        with torch.autocast("cpu", enabled=False):
            precise = self.second(h.float())
        return self.second(h), precise


model = Net()
x = torch.randn(3, 4)
for enabled in (False, True, False, True):
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled):
        out, precise = model(x)
        loss = out.float().pow(2).mean() + precise.sum()
    model.zero_grad()
    loss.backward()
    print(out.dtype, precise.dtype, round(loss.item(), 2), model.first.weight.grad.dtype)
print(torch.is_autocast_enabled("cpu"))
