"""pyro-ppl: stochastic variational inference of a small regression, as its introduction."""

import pyro
import pyro.distributions as dist
import torch
from pyro.infer import SVI, Trace_ELBO
from pyro.infer.autoguide import AutoNormal

pyro.set_rng_seed(0)
x = torch.randn(50)
y = 2.0 * x + 0.1 * torch.randn(50)


def model(x, y):
    slope = pyro.sample("slope", dist.Normal(0.0, 1.0))
    noise = pyro.sample("noise", dist.HalfNormal(1.0))
    with pyro.plate("data", len(x)):
        pyro.sample("y", dist.Normal(slope * x, noise), obs=y)


svi = SVI(model, AutoNormal(model), pyro.optim.Adam({"lr": 0.02}), Trace_ELBO())
for step in range(30):
    loss = svi.step(x, y)
    if step % 10 == 0:
        print(step, f"{loss:.1f}")
