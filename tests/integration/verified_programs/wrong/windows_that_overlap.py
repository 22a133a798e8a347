"""Windows that overlap are written in place: each element that two have in common is added to once.

An idea of our own.
kind: mutation
stage: AOTAutograd
"""

import torch


class Overlapped(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("signal", torch.zeros(8))

    def windows(self):
        return torch.as_strided(self.signal, (3, 4), (2, 1))

    def forward(self, frames):
        frames = frames - frames.mean(dim=1, keepdim=True)
        frames = frames * torch.hann_window(4)
        windows = self.windows()
        windows.add_(frames)  # cause
        return frames.sum() * 2


torch.manual_seed(0)
overlapped = Overlapped()
step = torch.compile(overlapped, backend="aot_eager")
step(torch.arange(12.0).reshape(3, 4).sin())
print(overlapped.signal)
