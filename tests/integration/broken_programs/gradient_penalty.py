"""`torch.autograd.grad` inside of what is compiled.

kind: graph break
advice: trace_autograd_ops
"""

import torch


class Critic(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(4, 1)

    def forward(self, x):
        return self.inner(x).tanh()


def penalty(critic, x):
    x = x.detach().requires_grad_(True)
    score = critic(x).sum()
    (gradient,) = torch.autograd.grad(score, x, create_graph=False)  # cause
    return (gradient.norm() - 1) ** 2


torch.manual_seed(0)
critic = Critic()
compiled = torch.compile(penalty, backend="aot_eager")
print(compiled(critic, torch.ones(2, 4)).item())
