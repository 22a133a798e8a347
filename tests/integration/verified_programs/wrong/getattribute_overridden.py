"""An object that answers for every attribute itself cannot be traced.

An idea of our own.
kind: exception
stage: tracing
"""

import torch


class Always:
    def __getattribute__(self, name):
        return 42


always = Always()


@torch.compile(backend="eager")
def step(x):
    return x * always.answer  # cause


try:
    print(step(torch.ones(2)))
except Exception as error:
    print(type(error).__name__)
