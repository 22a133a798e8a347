import threading

import torch

lock = threading.Lock()


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    y = y * 2
    return y.cos()


with lock:
    result = model(torch.ones(2))
print(result.tolist())
