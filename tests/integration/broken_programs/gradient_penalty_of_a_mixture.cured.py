"""A critic's penalty on its gradient at a mixture that is made inside.

kind: graph break
advice: pass it in
title: requires_grad_()

Made after https://github.com/pytorch/pytorch/pull/149483
"""

import torch

torch._dynamo.config.trace_autograd_ops = True
torch.manual_seed(0)
critic = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))


@torch.compile(backend="eager")
def penalty(mixed):
    score = critic(mixed).sum()
    (grad,) = torch.autograd.grad(score, mixed, create_graph=True)
    return (grad.norm(dim=1) - 1).pow(2).mean()


for _ in range(3):
    share = torch.rand(3, 1)
    mixed = share * torch.ones(3, 4) + (1 - share) * torch.zeros(3, 4)
    mixed.requires_grad_(True)
    loss = penalty(mixed)
    print(round(loss.item(), 4))
