"""A subclass of Tensor that only has a `__torch_function__` raises in the compiled function.

An idea of our own.
kind: exception
stage: AOTAutograd
"""

import torch


class Named(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})


@torch.compile(backend="aot_eager")
def step(x):
    return x * 2 + 1  # cause


try:
    print(step(torch.ones(2).as_subclass(Named)).tolist())
except TypeError as error:
    print(type(error).__name__)
