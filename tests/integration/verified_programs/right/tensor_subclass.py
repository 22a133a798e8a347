"""A subclass of Tensor passes on what is called."""

import torch


class Named(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})


@torch.compile(backend="eager")
def step(x):
    return x * 2 + 1


out = step(torch.ones(2).as_subclass(Named))
print(type(out).__name__, out.tolist())
