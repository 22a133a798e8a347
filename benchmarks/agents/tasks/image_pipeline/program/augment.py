"""What is done to a batch of images before a model sees it."""

import torch
from torch import nn
from torch.nn import functional

_MEAN = torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1)
_STD = torch.tensor([0.229, 0.224, 0.225]).view(1, 3, 1, 1)


def to_unit_range(images: torch.Tensor) -> torch.Tensor:
    """Bytes become values up to 1; others are that already."""
    if images.max() > 1.0:
        images = images / 255.0
    return images


def normalize(images: torch.Tensor) -> torch.Tensor:
    """Mean and deviation as in the set that the model was trained on."""
    return (images - _MEAN) / _STD


class Blur(nn.Module):
    """A binomial filter over each channel."""

    def __init__(self) -> None:
        super().__init__()
        row = torch.tensor([1.0, 2.0, 1.0])
        kernel = torch.outer(row, row) / 16.0
        self.register_buffer("kernel", kernel.expand(3, 1, 3, 3).clone())

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return functional.conv2d(images, self.kernel, padding=1, groups=3)


class Augmentation(nn.Module):
    """Unit range, contrast, blur, and the model's normalization."""

    def __init__(self, contrast: float = 1.1) -> None:
        super().__init__()
        self.contrast = contrast
        self.blur = Blur()

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        images = to_unit_range(images)
        middle = images.mean(dim=(2, 3), keepdim=True)
        images = (images - middle) * self.contrast + middle
        images = self.blur(images.clamp(0.0, 1.0))
        return normalize(images.flip(-1))
