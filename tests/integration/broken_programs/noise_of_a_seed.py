"""A model adds NumPy's noise to its input, and is to give the same for the same seed.

kind: other random numbers
advice: before the call

Made after https://github.com/pytorch/pytorch/issues/116746.
"""

import numpy as np
import torch


class Denoiser(torch.nn.Module):
    def __init__(self, sigma=0.1):
        super().__init__()
        self.sigma = sigma
        self.net = torch.nn.Linear(8, 8)

    def forward(self, clean):
        noise = np.random.normal(scale=self.sigma, size=clean.shape)  # cause
        noisy = clean + torch.from_numpy(noise).float()
        return (self.net(noisy) - clean).pow(2).mean()


torch.manual_seed(0)
model = Denoiser()
loss_of = torch.compile(model, backend="aot_eager")
clean = torch.randn(4, 8)
for seed in range(3):
    np.random.seed(seed)
    loss = loss_of(clean)
    loss.backward()
    print(seed, 0.0 < loss.item() < 10.0)
