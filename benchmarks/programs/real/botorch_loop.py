"""botorch: two rounds of Bayesian optimisation."""

import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

torch.manual_seed(0)
X = torch.rand(8, 2, dtype=torch.double)
Y = 1 - (X - 0.5).norm(dim=-1, keepdim=True)
for _ in range(2):
    gp = SingleTaskGP(X, Y)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(gp.likelihood, gp))
    candidate, _ = optimize_acqf(
        LogExpectedImprovement(gp, best_f=Y.max()),
        bounds=torch.stack([torch.zeros(2), torch.ones(2)]).double(),
        q=1,
        num_restarts=2,
        raw_samples=16,
    )
    X, Y = torch.cat([X, candidate]), torch.cat([Y, 1 - (candidate - 0.5).norm(dim=-1, keepdim=True)])
print(f"{Y.max().item():.2f}")
