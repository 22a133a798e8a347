"""A mode for functions of torch doubles the result of one operation twice.

After https://github.com/pytorch/pytorch/issues/115741
kind: value
stage: tracing
"""

import torch


class Twice(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        return result * 2 if isinstance(result, torch.Tensor) else result


@torch.compile(backend="eager")
def step(x):
    return x.view(-1)  # cause


print(step(torch.ones(3)))
with Twice():
    result = step(torch.ones(3))
print(result)
