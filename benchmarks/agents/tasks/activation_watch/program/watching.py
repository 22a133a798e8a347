"""Figures of what layers put out."""

import torch
from torch import nn


class ActivationWatch:
    """Keeps the largest output of each layer, and how many of its outputs are zero."""

    def __init__(self, model: nn.Module) -> None:
        layers = [(name, layer) for name, layer in model.named_modules() if isinstance(layer, nn.ReLU)]
        self.peaks = {name: 0.0 for name, _ in layers}
        self.silent = {name: 0.0 for name, _ in layers}
        for name, layer in layers:
            layer.register_forward_hook(self._watching(name))

    def _watching(self, name: str):
        def watch(layer: nn.Module, inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
            values = output.detach()
            self.peaks[name] = max(self.peaks[name], values.max().item())
            self.silent[name] = (values == 0).float().mean().item()

        return watch

    def report(self) -> list[str]:
        """A line for each layer."""
        return [f"{name}: peak {self.peaks[name]:.4f}, silent {self.silent[name]:.3f}" for name in self.peaks]
