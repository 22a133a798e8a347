"""A sampler looks its schedule up by a timestep, which is a tensor without dimensions: cured."""

import numpy as np
import torch
from torch import nn


class Scheduler:
    def __init__(self, ratio=99.0, max_value=1.5):
        self.ratio, self.max_value = ratio, max_value
        self.alphas = torch.linspace(0.99, 0.2, 6)

    def _threshold_sample(self, sample):
        flat = sample.reshape(sample.shape[0], -1)
        s = np.percentile(flat.abs().detach().cpu().numpy(), self.ratio, axis=1)
        s = torch.from_numpy(s).to(sample.dtype).clamp(1.0, self.max_value)
        s = s.view(-1, 1, 1)
        return sample.clamp(-s, s) / s

    def step(self, noise, t, sample):
        a = self.alphas[t.reshape(1)][0]
        x0 = (sample - (1 - a).sqrt() * noise) / a.sqrt()
        x0 = self._threshold_sample(x0)
        return a.sqrt() * x0 + (1 - a).sqrt() * noise


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Conv1d(2, 2, 3, padding=1)
        self.scheduler = Scheduler()

    def forward(self, x, t):
        return self.scheduler.step(self.net(x), t, x)


torch.manual_seed(0)
model = torch.compile(Denoiser(), backend="eager")
x = torch.randn(2, 2, 16)
with torch.no_grad():
    for t in torch.arange(6):
        x = model(x, t)
        print(int(t), f"{x.abs().mean().item():.4f}")
