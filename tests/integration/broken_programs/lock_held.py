"""A lock is held around the work.

kind: graph break
advice: lock
"""

import threading

import torch

lock = threading.Lock()


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    with lock:  # cause
        y = y * 2
    return y.cos()


print(model(torch.ones(2)).tolist())
