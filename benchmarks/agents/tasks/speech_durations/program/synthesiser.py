"""From phonemes to frames of a spectrum."""

import torch
from durations import FRAMES, stretched, whole_frames
from torch import nn


class Synthesiser(nn.Module):
    """Predicts how long phonemes last, and the spectrum of each frame."""

    def __init__(self, phonemes: int, width: int = 16, bands: int = 10) -> None:
        super().__init__()
        self.embedding = nn.Embedding(phonemes, width)
        self.duration = nn.Linear(width, 1)
        self.mix = nn.Linear(width, width)
        self.spectrum = nn.Linear(width, bands)
        self.register_buffer("rhythm", torch.sin(torch.linspace(0, 6.28, FRAMES))[:, None])

    def forward(self, phonemes: torch.Tensor) -> torch.Tensor:
        """A spectrum for each of the frames."""
        embedded = self.embedding(phonemes)
        shares = torch.softmax(self.duration(embedded).squeeze(1), dim=0)
        frames = stretched(embedded, whole_frames(shares))
        voiced = torch.tanh(self.mix(frames)) + 0.1 * self.rhythm
        return self.spectrum(voiced)
