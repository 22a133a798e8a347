"""An action is compared with the bounds of its space, both as tensors, joined by `and`.

kind: graph break
advice: write `&` for `and`

Made after https://github.com/pytorch/pytorch/issues/140394
"""

import torch
from torch import nn


class BoundedSpec:
    def __init__(self, low, high):
        self.low = low
        self.high = high

    def is_in(self, action):
        return (action >= self.low).all() and (action <= self.high).all()  # cause


class Policy(nn.Module):
    def __init__(self, spec):
        super().__init__()
        self.spec = spec
        self.body = nn.Linear(3, 2)

    def forward(self, obs):
        action = torch.tanh(self.body(obs)) * 2
        return action.clamp(-0.5, 0.5), self.spec.is_in(action)


torch.manual_seed(0)
policy = torch.compile(Policy(BoundedSpec(torch.tensor(-1.0), torch.tensor(1.0))), backend="eager")
with torch.no_grad():
    for scale in (0.1, 1.0, 5.0):
        action, is_in = policy(torch.randn(4, 3) * scale)
        print(f"{action.sum().item():.5f}", is_in.item())
