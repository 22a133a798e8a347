"""What the method of an object made while tracing appends to a list is lost.

After https://github.com/pytorch/pytorch/issues/197896
kind: mutation
stage: tracing
"""

import torch


def make_step():
    seen = []

    class Helper:
        def note(self, x):
            seen.append(x.shape[0])  # cause
            return x * 2

    @torch.compile(backend="eager")
    def step(x):
        return Helper().note(x)

    return step, seen


step, seen = make_step()
print(step(torch.ones(2)), seen)
