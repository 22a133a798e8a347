"""A view of an argument that is made without gradients lets them through.

An idea of our own.

kind: gradient
stage: AOTAutograd
"""

import torch
from torch import nn


class Teacher(nn.Module):
    """Gives what it has learnt, and targets that nothing is to flow through."""

    def __init__(self) -> None:
        super().__init__()
        self.proj = nn.Linear(4, 4)

    def targets(self, features):
        with torch.no_grad():
            return features.view(-1, 4)  # cause

    def forward(self, features):
        pairs = features.view(-1, 4)
        learnt = self.proj(pairs)
        return learnt, self.targets(features)


torch.manual_seed(0)
teacher = Teacher()
compiled = torch.compile(teacher)
features = torch.randn(2, 3, 4, requires_grad=True)
learnt, targets = compiled(features)
print(targets.requires_grad)
loss = ((learnt - targets) ** 2).mean()
loss.backward()
print(round(features.grad.abs().sum().item(), 4))
