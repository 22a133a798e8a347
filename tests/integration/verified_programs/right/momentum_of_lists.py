"""Lists of tensors are updated together, each with copies of the other's."""

import torch


class Momentum:
    def __init__(self, parameters):
        self.parameters = [each.detach().clone() for each in parameters]
        self.moments = [torch.zeros_like(each) for each in self.parameters]

    def step(self, gradients):
        torch._foreach_mul_(self.moments, 0.9)
        torch._foreach_add_(self.moments, gradients)
        before = [each.clone() for each in self.parameters]
        torch._foreach_add_(self.parameters, self.moments, alpha=-0.1)
        return [new - old for new, old in zip(self.parameters, before, strict=True)]


momentum = Momentum([torch.ones(2), torch.arange(3.0)])
step = torch.compile(momentum.step, backend="aot_eager")
for _ in range(3):
    changes = step([torch.ones(2), torch.ones(3)])
print([[round(value, 4) for value in each.tolist()] for each in momentum.parameters + changes])
