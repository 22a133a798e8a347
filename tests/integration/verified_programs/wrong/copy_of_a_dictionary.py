"""`dict` of a subclass takes its `items`, not its `keys`.

An idea of our own.
kind: value
stage: tracing
"""

import torch


class Settings(dict):
    def keys(self):
        return ["scale"]

    def items(self):
        return [("other", 3.0)]

    def __getitem__(self, key):
        return 5.0

    def __iter__(self):
        return iter(["first"])


@torch.compile(backend="eager")
def step(x, settings):
    copied = dict(settings)  # cause
    return x * len(copied), copied


print(step(torch.ones(2), Settings(other=2.0)))
