"""Images from two cameras: one gives values up to 1, the other bytes up to 255."""

from collections.abc import Iterator

import torch

SIZE = 16


def camera_images(count: int, batch: int, seed: int) -> Iterator[torch.Tensor]:
    """Batches of images with three channels, from the two cameras in turn."""
    generator = torch.Generator().manual_seed(seed)
    for number in range(count):
        images = torch.rand(batch, 3, SIZE, SIZE, generator=generator)
        yield images * 255.0 if number % 2 else images
