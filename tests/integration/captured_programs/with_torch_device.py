"""`with torch.device(...)` around building and calling; tensors made on meta have no values."""

import torch
from torch import nn

torch.manual_seed(0)


class MakesTensors(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x) + torch.arange(3) + torch.zeros(3)


model = MakesTensors()
print(model(torch.ones(1, 3)).tolist())
with torch.device("cpu"):
    print(model(torch.ones(1, 3)).tolist())
with torch.device("meta"):
    shadow = MakesTensors()
    out = shadow(torch.ones(5, 3))
print(out.device, tuple(out.shape), out.requires_grad)
torch.set_default_device("meta")
print(torch.ones(2).device, shadow(torch.ones(4, 3)).shape)
torch.set_default_device(None)
print(model(torch.ones(2, 3)).sum().item())
