"""Shapes are worked out without memory, by FakeTensorMode and on meta; then the real model runs."""

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.out = nn.Conv2d(3, 4, 3), nn.Linear(4, 2)

    def forward(self, x):
        return self.out(self.conv(x).relu().mean((2, 3)))


def total(x):
    return (x * 2).sum(0)


model = Net()
print(model(torch.ones(1, 3, 5, 5)).tolist())
with FakeTensorMode(allow_non_fake_inputs=True):
    fake = model(torch.empty(64, 3, 512, 512))
    print(type(fake).__name__, tuple(fake.shape), tuple(total(torch.empty(5, 7)).shape))
with torch.device("meta"):
    shadow = Net()
print(shadow(torch.empty(10**6, 3, 8, 8, device="meta")).shape, total(torch.ones(2, 2, device="meta")).device)
shadow.to_empty(device="cpu").load_state_dict(model.state_dict())
print(
    torch.equal(shadow(torch.ones(1, 3, 5, 5)), model(torch.ones(1, 3, 5, 5))),
    total(torch.ones(2, 2)).tolist(),
)
