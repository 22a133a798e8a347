"""Deterministic sampling, from noise to a sample."""

import torch
from denoiser import Denoiser
from schedule import CosineSchedule


class Sampler:
    """Takes steps of denoising along a schedule."""

    def __init__(self, denoiser: Denoiser, schedule: CosineSchedule) -> None:
        self.denoiser = denoiser
        self.schedule = schedule
        self.step = torch.compile(self.denoised)

    def denoised(self, sample: torch.Tensor, time: float, earlier: float) -> torch.Tensor:
        """The sample at an earlier time."""
        noise = self.denoiser(sample, time)
        signal, after = self.schedule.signal(time), self.schedule.signal(earlier)
        clean = (sample - (1 - signal) ** 0.5 * noise) / signal**0.5
        clean = clean.clamp(-3, 3)
        return after**0.5 * clean + (1 - after) ** 0.5 * noise

    @torch.no_grad()
    def sample(self, noise: torch.Tensor, steps: int) -> torch.Tensor:
        """Samples made of noise."""
        for time, earlier in self.schedule.times(steps):
            noise = self.step(noise, time, earlier)
        return noise
