"""`isinstance` is answered without asking the metaclass.

An idea of our own.
kind: value
stage: tracing
"""

import torch


class Anything(type):
    def __instancecheck__(cls, instance):
        return True


class Setting(metaclass=Anything):
    pass


@torch.compile(backend="eager")
def step(x):
    return x + 1 if isinstance(3, Setting) else x - 1  # cause


print(step(torch.ones(3)))
