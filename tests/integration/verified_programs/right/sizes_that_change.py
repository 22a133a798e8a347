"""Each call has another size."""

import torch


@torch.compile(dynamic=True)
def pool(x):
    return x.view(2, -1).mean(1) + x.shape[0] // 2


for size in (4, 6, 10, 12):
    print(pool(torch.arange(float(size))))
