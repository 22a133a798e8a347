"""Figures of what went through the pipeline."""

import torch


class Summary:
    """Means and deviations of the channels, over all batches."""

    def __init__(self) -> None:
        self.means: list[torch.Tensor] = []
        self.deviations: list[torch.Tensor] = []

    def add(self, images: torch.Tensor) -> None:
        self.means.append(images.mean(dim=(0, 2, 3)))
        self.deviations.append(images.std(dim=(0, 2, 3)))

    def lines(self) -> list[str]:
        means = torch.stack(self.means).mean(dim=0).tolist()
        deviations = torch.stack(self.deviations).mean(dim=0).tolist()
        return [
            f"{channel}: mean {mean:.4f}, deviation {deviation:.4f}"
            for channel, mean, deviation in zip(("red", "green", "blue"), means, deviations, strict=True)
        ]
