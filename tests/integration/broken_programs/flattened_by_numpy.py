"""Images are flattened to as many numbers as numpy says.

kind: graph break
advice: math.prod

Made after https://github.com/torchgeo/terratorch/pull/509
"""

import numpy as np
import torch
from torch import nn


class Discriminator(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.model = nn.Sequential(
            nn.Linear(int(np.prod(shape)), 16),
            nn.LeakyReLU(0.2),
            nn.Linear(16, 1),
        )

    def forward(self, img):
        flat = img.reshape(img.shape[0], np.prod(img.shape[1:]))  # cause
        return self.model(flat) / np.sqrt(img.shape[1])


torch.manual_seed(0)
critic = Discriminator((3, 4, 4))
optimizer = torch.optim.RMSprop(critic.parameters(), lr=0.01)
compiled = torch.compile(critic, backend="aot_eager")
for number in range(4):
    real, fake = torch.randn(5, 3, 4, 4) + 0.5, torch.randn(5, 3, 4, 4)
    optimizer.zero_grad()
    loss = compiled(fake).mean() - compiled(real).mean()
    loss.backward()
    optimizer.step()
    print(number, round(loss.item(), 4))
