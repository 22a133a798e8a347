"""A Gaussian process adds jitter to a matrix until it has a Cholesky factor: cured."""

import torch
from torch import nn


@torch.compile(backend="eager")
def factor(a):
    return torch.linalg.cholesky_ex(a)


def psd_safe_cholesky(a, max_tries=3):
    chol, info = factor(a)
    if not torch.any(info):
        return chol
    jitter = 1e-6
    for i in range(max_tries):
        a = a + jitter * (10**i) * torch.eye(a.shape[-1])
        chol, info = factor(a)
        if not torch.any(info):
            return chol
    raise RuntimeError("not positive definite")


class ExactGP(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_scale = nn.Parameter(torch.zeros(()))

    def kernel(self, a, b):
        return torch.exp(-0.5 * (a[:, None] - b[None]).pow(2) / self.log_scale.exp() ** 2)

    @torch.compile(backend="eager")
    def covariance(self, x):
        return self.kernel(x, x) + 1e-2 * torch.eye(x.shape[0])

    @torch.compile(backend="eager")
    def likelihood(self, chol, y):
        alpha = torch.cholesky_solve(y[:, None], chol)
        return 0.5 * (y @ alpha).sum() + chol.diagonal().log().sum()

    def forward(self, x, y):
        return self.likelihood(psd_safe_cholesky(self.covariance(x)), y)


torch.manual_seed(0)
gp = ExactGP()
opt = torch.optim.Adam(gp.parameters(), lr=0.1)
x = torch.linspace(0, 3, 12)
y = torch.sin(2 * x)
for i in range(5):
    loss = gp(x, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(i, f"{loss.item():.4f}")
