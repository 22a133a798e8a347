"""A sparse matrix is an argument."""

import torch


@torch.compile(backend="aot_eager")
def step(matrix, x):
    return torch.sparse.mm(matrix, x).relu() + 1


dense = torch.eye(4) * torch.arange(4.0)
for _ in range(3):
    x = torch.ones(4, 2, requires_grad=True)
    result = step(dense.to_sparse_csr(), x)
    result.sum().backward()
    print(result.sum().item(), x.grad.sum().item())
