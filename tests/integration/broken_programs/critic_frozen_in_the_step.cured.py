"""A critic is frozen inside of the step that trains the generator.

kind: graph break
advice: freeze in front

Made after a pattern common in Lightning (toggled optimizers of a GAN).
"""

import torch
import torch.nn.functional as F
from torch import nn


class Generator(nn.Module):
    def __init__(self, latent=8, out=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(latent, 32), nn.LeakyReLU(0.2), nn.Linear(32, out))

    def forward(self, z):
        return self.net(z).tanh()


class GAN(nn.Module):
    def __init__(self):
        super().__init__()
        self.generator = Generator()
        self.critic = nn.Sequential(nn.Linear(16, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))

    def toggle(self, module, active):
        module.requires_grad_(active)

    def generator_loss(self, z):
        fake = self.generator(z)
        return F.softplus(-self.critic(fake)).mean()

    def critic_loss(self, z, real):
        fake = self.generator(z).detach()
        return F.softplus(self.critic(fake)).mean() + F.softplus(-self.critic(real)).mean()


class Trainer:
    def __init__(self, gan):
        self.gan = gan
        self.generator_loss = torch.compile(gan.generator_loss, backend="aot_eager")
        self.critic_loss = torch.compile(gan.critic_loss, backend="aot_eager")
        self.opt_g = torch.optim.Adam(gan.generator.parameters(), 1e-3)
        self.opt_c = torch.optim.Adam(gan.critic.parameters(), 1e-3)

    def step(self, optimizer, loss):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    def fit(self, batches):
        for number, real in enumerate(batches):
            z = torch.randn(real.shape[0], 8)
            critic = self.step(self.opt_c, self.critic_loss(z, real))
            self.gan.toggle(self.gan.critic, False)
            loss = self.generator_loss(z)
            self.gan.toggle(self.gan.critic, True)
            generator = self.step(self.opt_g, loss)
            print(f"{number} critic {critic:.4f} generator {generator:.4f}")


torch.manual_seed(0)
Trainer(GAN()).fit(torch.randn(4, 12, 16))
