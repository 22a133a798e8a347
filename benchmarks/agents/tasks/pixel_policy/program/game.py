"""A game in which a ball is followed over a small field."""

import torch

SIZE = 8


class Game:
    """The ball moves by its speed, and bounces off the walls."""

    def __init__(self, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.place = torch.rand(2, generator=generator)
        self.speed = 0.3 * (torch.rand(2, generator=generator) - 0.5)

    def frame(self) -> torch.Tensor:
        """The field as the player sees it, brightest at the ball."""
        axis = torch.linspace(0, 1, SIZE)
        distance = (axis[:, None] - self.place[0]) ** 2 + (axis[None, :] - self.place[1]) ** 2
        return torch.exp(-12 * distance)

    def step(self, push: float) -> None:
        """Let the ball move, pushed to the side by the player."""
        self.place = self.place + self.speed + torch.tensor([0.0, 0.02 * push])
        is_out = (self.place < 0) | (self.place > 1)
        self.speed = torch.where(is_out, -self.speed, self.speed)
        self.place = self.place.clamp(0, 1)
