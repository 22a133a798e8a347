"""A learning rate that decays, passed as a float.

kind: recompile
advice: dynamic=True
"""

import torch


@torch.compile(backend="eager")
def updated(w, gradient, lr):
    return w - lr * gradient  # cause


w = torch.ones(4)
for step in range(4):
    w = updated(w, w * 0.5, 1.0 / (step + 2))
    print([round(value, 4) for value in w.tolist()])
