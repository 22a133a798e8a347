"""A policy that sees what moved over the last frames."""

from collections import deque

import torch
from game import SIZE
from torch import nn


class Policy(nn.Module):
    """Three actions from the newest frame and the mean of the last ones."""

    def __init__(self, memory: int = 4, width: int = 16) -> None:
        super().__init__()
        self.frames: deque[torch.Tensor] = deque(maxlen=memory)
        self.hidden = nn.Linear(2 * SIZE * SIZE, width)
        self.actions = nn.Linear(width, 3)

    def begin(self) -> None:
        """Forget the episode before."""
        self.frames.clear()

    def forward(self, frame: torch.Tensor) -> torch.Tensor:
        """Probabilities to push left, not at all, or right."""
        self.frames.append(frame)
        background = torch.stack(list(self.frames)).mean(dim=0)
        seen = torch.cat([frame.flatten(), (frame - background).flatten()])
        return torch.softmax(self.actions(torch.relu(self.hidden(seen))), dim=0)
