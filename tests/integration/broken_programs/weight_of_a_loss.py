"""The weight of a part of a loss follows a curve of points, between which numpy interpolates.

kind: graph break
advice: before the call of `__call__`

Made after a pattern common in variational autoencoders (KL annealing with np.interp).
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

POINTS = [0, 4, 8, 12]
WEIGHTS = [0.0, 0.1, 0.5, 1.0]


class AutoEncoder(nn.Module):
    def __init__(self, width=12, latent=4):
        super().__init__()
        self.encoder = nn.Linear(width, 2 * latent)
        self.decoder = nn.Linear(latent, width)

    def forward(self, x, noise):
        mean, log_var = self.encoder(x).chunk(2, dim=-1)
        z = mean + noise * (0.5 * log_var).exp()
        return self.decoder(z), mean, log_var


class Objective:
    def __init__(self, model):
        self.model = model

    def __call__(self, x, noise, step):
        decoded, mean, log_var = self.model(x, noise)
        kl = -0.5 * (1 + log_var - mean.pow(2) - log_var.exp()).sum(-1).mean()
        weight = np.interp(step, POINTS, WEIGHTS)  # cause
        return F.mse_loss(decoded, x) + weight * kl


def main():
    torch.manual_seed(0)
    model = AutoEncoder()
    objective = torch.compile(Objective(model), backend="eager")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(12):
        loss = objective(torch.randn(8, 12), torch.randn(8, 4), step)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(round(float(loss), 3))


main()
