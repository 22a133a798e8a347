"""float64, with numbers that are far apart."""

import torch


@torch.compile
def step(x):
    return torch.linalg.vector_norm(x), (x - x.mean()) / x.var().sqrt(), x.logsumexp(0)


print([each.dtype for each in step(torch.tensor([1e-8, 1.0, 1e8], dtype=torch.float64))])
