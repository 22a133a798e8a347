import threading

import torch

done = []


@torch.compile(backend="eager")
def model(x):
    y = x.sin()
    return y.cos()


thread = threading.Thread(target=done.append, args=(1,))
thread.start()
thread.join()
print(model(torch.ones(2)).tolist(), done)
