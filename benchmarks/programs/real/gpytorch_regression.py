"""gpytorch: the exact GP regression of its documentation, ten steps."""

import gpytorch
import torch

torch.manual_seed(0)
train_x = torch.linspace(0, 1, 40)
train_y = torch.sin(train_x * 6.28) + torch.randn(40) * 0.2


class ExactGPModel(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


likelihood = gpytorch.likelihoods.GaussianLikelihood()
model = ExactGPModel(train_x, train_y, likelihood)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
mll = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
model.train()
likelihood.train()
for _ in range(10):
    optimizer.zero_grad()
    loss = -mll(model(train_x), train_y)
    loss.backward()
    optimizer.step()
print(f"{loss.item():.3f}")
model.eval()
likelihood.eval()
with torch.no_grad():
    print(f"{likelihood(model(torch.linspace(0, 1, 11))).mean.sum().item():.2f}")
