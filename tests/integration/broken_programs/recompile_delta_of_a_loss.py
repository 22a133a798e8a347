"""The delta of a Huber loss is made smaller each epoch: it has to be a number, and each is a version.

kind: recompile
advice: calculate what `(2.0*ramp)` is for

Made after a pattern common in the training of depth networks.
"""

import torch


@torch.compile(backend="aot_eager")
def objective(predicted, target, ramp):
    data = torch.nn.functional.huber_loss(predicted, target, delta=2.0 * ramp)  # cause
    return data + (1.0 - ramp) * predicted.diff().abs().mean()


torch.manual_seed(0)
predicted = torch.randn(4, 6, requires_grad=True)
for ramp in (1.0, 0.8, 0.6, 0.4):
    objective(predicted, torch.ones(4, 6), ramp).backward()
print(round(predicted.grad.sum().item(), 4))
