"""A critic is asked with a library's fast kernels switched off, as for its gradient penalty.

kind: fell back to eager
advice: around the call

Made after a pattern common in StyleGAN (`with torch.backends.cudnn.flags(enabled=False)`).
"""

import torch
from torch import nn


class Critic(nn.Module):
    def __init__(self, channels=4):
        super().__init__()
        self.first = nn.Conv2d(1, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)
        self.score = nn.Linear(channels, 1)

    def forward(self, images):
        hidden = nn.functional.softplus(self.first(images))
        hidden = nn.functional.softplus(self.second(hidden))
        return self.score(hidden.mean(dim=(2, 3))).squeeze(-1)

    def smooth_score(self, images):
        images = images.clamp(-1, 1)
        with torch.backends.mkldnn.flags(enabled=False):  # cause
            scores = self(images)
        return scores.sigmoid()


def penalty_of(score, images):
    images = images.requires_grad_()
    (grads,) = torch.autograd.grad(score(images).sum(), images, create_graph=True)
    return grads.flatten(1).norm(dim=1).sub(1).pow(2).mean()


torch.manual_seed(0)
critic = Critic()
score = torch.compile(critic.smooth_score, backend="eager")
optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
for number in range(3):
    penalty = penalty_of(score, torch.randn(3, 1, 6, 6))
    optimizer.zero_grad()
    penalty.backward()
    optimizer.step()
    print(number, round(penalty.item(), 4))
