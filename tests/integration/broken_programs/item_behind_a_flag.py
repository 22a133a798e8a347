"""A value is taken out of a tensor behind a flag that is no tensor: `&` between them may raise.

kind: graph break
advice: leave the first part
"""

import torch


class Scaled(torch.nn.Module):
    def __init__(self, noisy):
        super().__init__()
        self.noisy = noisy

    def forward(self, x):
        y = x * 3
        if self.noisy and y.std().item() > 0.1:  # cause
            y = y / y.std()
        return y + 1


torch.manual_seed(0)
noisy = torch.compile(Scaled(noisy="very"), backend="eager")
for size in (1.0, 1.0, 0.01):
    print(noisy(torch.randn(8) * size).tolist())
