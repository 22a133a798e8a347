"""A variational autoencoder of perceptrons, trained. Its noise is drawn once: all runs have the same."""

import torch
from _loops import train
from torch import nn
from torch.nn.functional import mse_loss

PIXELS, HIDDEN, LATENT, BATCH = 784, 128, 16, 32


class Autoencoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(PIXELS, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, 2 * LATENT))
        self.decoder = nn.Sequential(nn.Linear(LATENT, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, PIXELS))

    def forward(self, images: torch.Tensor, noise: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        mean, log_variance = self.encoder(images).chunk(2, dim=1)
        decoded = self.decoder(mean + noise * torch.exp(0.5 * log_variance)).sigmoid()
        divergence = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum(dim=1).mean()
        return decoded, divergence


torch.manual_seed(0)
images, noise = torch.rand(BATCH, PIXELS), torch.randn(BATCH, LATENT)
train(Autoencoder(), lambda found: mse_loss(found[0], images) + 1e-3 * found[1], images, noise)
