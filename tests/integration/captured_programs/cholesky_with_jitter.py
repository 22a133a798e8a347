"""A Cholesky factor that is retried with more jitter: LinAlgError is caught in the function itself."""

import torch

torch.manual_seed(0)


def safe_cholesky(matrix):
    jitter = 1e-6
    for _ in range(8):
        try:
            return torch.linalg.cholesky(matrix + jitter * torch.eye(matrix.shape[0]))
        except torch.linalg.LinAlgError:
            jitter *= 10
    raise ValueError("not positive definite")


good = torch.randn(4, 4)
good = good @ good.T + torch.eye(4)
print(safe_cholesky(good).diagonal().tolist())
bad = torch.diag(torch.tensor([1.0, 2.0, -0.05, 1.0]))
print(safe_cholesky(bad).diagonal().tolist())
try:
    safe_cholesky(-good)
except ValueError as error:
    print(type(error).__name__, error)
