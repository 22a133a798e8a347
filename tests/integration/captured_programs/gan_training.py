"""A GAN with two optimizers: the generator's graph goes through a frozen, then a trained discriminator."""

import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(2, 6), nn.LeakyReLU(0.2), nn.Linear(6, 3), nn.Tanh())
critic = nn.Sequential(nn.Linear(3, 6), nn.LeakyReLU(0.2), nn.Linear(6, 1))
optimizers = [torch.optim.Adam(m.parameters(), lr=0.01, betas=(0.5, 0.99)) for m in (generator, critic)]
bce = nn.BCEWithLogitsLoss()


def critic_loss(real, fake):
    return bce(critic(real), torch.ones(4, 1)) + bce(critic(fake.detach()), torch.zeros(4, 1))


for step in range(3):
    fake = generator(torch.randn(4, 2))
    optimizers[1].zero_grad()
    loss_c = critic_loss(torch.randn(4, 3), fake)
    loss_c.backward()
    optimizers[1].step()
    critic.requires_grad_(False)
    optimizers[0].zero_grad()
    loss_g = bce(critic(fake), torch.ones(4, 1))
    loss_g.backward()
    optimizers[0].step()
    critic.requires_grad_(True)
    print(step, loss_c.item(), loss_g.item(), critic[0].weight.grad.norm().item())
