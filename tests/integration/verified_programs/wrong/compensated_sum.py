"""Inductor is allowed to reorder additions: what a compensated sum has lost is 0.

An idea of our own, after pytorch's setting cpp.enable_unsafe_math_opt_flag.
kind: value
stage: inductor
"""

import torch
import torch._inductor.config

torch._inductor.config.cpp.enable_unsafe_math_opt_flag = True


class Account(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.full((16,), 1e8))

    def added(self, x):
        total = self.total + x
        lost = (total - self.total) - x  # cause
        return total, lost

    def forward(self, x):
        x = torch.abs(x) + 1.0
        total, lost = self.added(x)
        return total * 1e-8, lost * 2


account = torch.compile(Account())
with torch.no_grad():
    print(account(torch.linspace(0.0, 3.0, 16))[1])
