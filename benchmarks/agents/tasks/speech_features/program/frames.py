"""A clip cut into frames that overlap."""

import torch


class Framing:
    """Cuts, takes out what is constant, and weighs the middle of each frame most."""

    def __init__(self, length: int = 256, step: int = 128) -> None:
        self.length = length
        self.step = step
        self.window = torch.hann_window(length, periodic=False)

    def __call__(self, clip: torch.Tensor) -> torch.Tensor:
        frames = clip.unfold(-1, self.length, self.step)
        frames = frames - frames.mean(dim=-1, keepdim=True)
        return frames * self.window
