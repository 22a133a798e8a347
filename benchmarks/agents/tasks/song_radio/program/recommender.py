"""Recommends songs like those that a listener heard lately."""

import torch
from songs import Play


class Recommender:
    """Keeps a taste for each listener, in which what was heard long ago fades."""

    def __init__(self, songs: torch.Tensor, fading: float = 0.7) -> None:
        self.songs = songs
        self.fading = fading
        self.tastes: dict[str, torch.Tensor] = {}
        self.rank = torch.compile(self.ranked)

    def ranked(self, listener: str, song: torch.Tensor) -> torch.Tensor:
        """Scores of all songs for a listener who heard this one."""
        before = self.tastes.get(listener)
        taste = song if before is None else self.fading * before + (1 - self.fading) * song
        taste = torch.nn.functional.normalize(taste, dim=0)
        self.tastes[listener] = taste
        likeness = self.songs @ taste
        novelty = 1 - self.songs @ song
        return likeness + 0.2 * torch.tanh(novelty)

    def recommend(self, play: Play, count: int = 3) -> list[int]:
        """The best songs to play next."""
        return torch.topk(self.rank(play.listener, play.song), count).indices.tolist()
