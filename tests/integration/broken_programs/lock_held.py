"""A lock is held around the work.

kind: fell back to eager
advice: around the call
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
