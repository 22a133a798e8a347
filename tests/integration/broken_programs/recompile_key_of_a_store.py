"""A store of tensors, of which each call asks for another key.

kind: recompile limit
advice: look it up before the call
"""

import torch

tastes = {name: torch.full((4,), float(number)) for number, name in enumerate("abcdefghijkl")}


@torch.compile(backend="eager")
def score(listener, song):
    taste = tastes[listener]  # cause
    return (taste * song).sum()


for listener in tastes:
    print(score(listener, torch.ones(4)).item())
