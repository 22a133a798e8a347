"""Songs, and who heard them."""

from dataclasses import dataclass

import torch

FEATURES = 10
LISTENERS = ("ada", "bo", "chen", "dipa", "eli")


@dataclass(frozen=True)
class Play:
    """A listener heard a song."""

    listener: str
    song: torch.Tensor


def make_songs(count: int, seed: int) -> torch.Tensor:
    """Features of songs, of length one."""
    songs = torch.randn(count, FEATURES, generator=torch.Generator().manual_seed(seed))
    return torch.nn.functional.normalize(songs, dim=1)


def make_plays(songs: torch.Tensor, count: int, seed: int) -> list[Play]:
    """What listeners heard, one after the other."""
    generator = torch.Generator().manual_seed(seed + 1)
    listeners = torch.randint(len(LISTENERS), (count,), generator=generator).tolist()
    heard = torch.randint(len(songs), (count,), generator=generator).tolist()
    return [Play(LISTENERS[who], songs[what]) for who, what in zip(listeners, heard, strict=True)]
