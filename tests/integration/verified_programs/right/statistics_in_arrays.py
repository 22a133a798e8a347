"""Statistics are kept in arrays of numpy, and written in place beside the compiled call."""

import numpy as np
import torch

counts = np.zeros(3)
means = np.zeros(3)


@torch.compile
def step(x, kind):
    counts[kind] += 1
    means[kind] += (x.numpy().mean() - means[kind]) / counts[kind]
    return x * float(means[kind])


for k in range(5):
    print(step(torch.full((4,), float(k)), k % 3).sum())
print(counts, means)
