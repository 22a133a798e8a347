"""Temperature scaling with a prior over the classes."""

import warnings

import torch
from torch import nn


class FewClasses(UserWarning):
    """Calibration has little to work with."""


class TemperatureScaling(nn.Module):
    """Divides logits by a temperature, and mixes in how often a class occurs."""

    def __init__(self, frequencies: torch.Tensor, temperature: float = 1.5, mix: float = 0.1) -> None:
        super().__init__()
        self.register_buffer("prior", frequencies / frequencies.sum())
        self.log_temperature = nn.Parameter(torch.tensor(temperature).log())
        self.mix = mix
        self.calibrated = torch.compile(self.scale)

    def forward(self, logits: torch.Tensor) -> torch.Tensor:
        """Probabilities; warns where fewer than three classes are told apart."""
        return self.calibrated(logits)

    def scale(self, logits: torch.Tensor) -> torch.Tensor:
        centred = logits - logits.mean(dim=-1, keepdim=True)
        if logits.shape[-1] < 3:
            warnings.warn("fewer than three classes", FewClasses, stacklevel=2)
        probabilities = torch.softmax(centred / self.log_temperature.exp(), dim=-1)
        mixed = (1 - self.mix) * probabilities + self.mix * self.prior
        return mixed / mixed.sum(dim=-1, keepdim=True)
