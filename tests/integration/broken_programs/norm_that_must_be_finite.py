"""Gradients are clipped, with an error where their norm is not finite.

kind: graph break
advice: leave out the argument

Made after a pattern common in torchtune and Lightning (gradient clipping).
"""

import torch

weight = torch.nn.Parameter(torch.ones(4))


@torch.compile(backend="eager")
def clipped():
    norm = torch.nn.utils.clip_grad_norm_([weight], 1.0, error_if_nonfinite=True)  # cause
    return norm * 2


for _ in range(3):
    weight.grad = torch.full((4,), 3.0)
    print(clipped().item(), weight.grad.tolist())
