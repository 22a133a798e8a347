"""A thread is started inside.

kind: graph break
advice: call of `model`
"""

import threading

import torch

done = []


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    thread = threading.Thread(target=done.append, args=(1,))  # cause
    thread.start()
    thread.join()
    return y.cos()


print(model(torch.ones(2)).tolist(), done)
