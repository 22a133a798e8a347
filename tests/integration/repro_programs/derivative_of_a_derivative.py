"""What Inductor makes of a second derivative reads memory that is not its own.

After pytorch/pytorch#190856.
origin: source
kind: crash
"""

import torch


def f(t):
    return torch.mean(1.0 / (t + torch.trace(t) * torch.eye(3, dtype=t.dtype)))


compiled = torch.compile(torch.func.jacfwd(torch.func.jacfwd(f)))
print(compiled(torch.tensor([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.95]], dtype=torch.float64)).sum())
