"""Settings in a ChainMap are changed in the dictionary that has them."""

from collections import ChainMap

import torch

own = {"scale": 2.0}
settings = ChainMap(own, {"scale": 1.0, "shift": 0.5})


@torch.compile(backend="eager")
def scaled(x):
    return x * settings["scale"] + settings["shift"]


print(scaled(torch.ones(2)))
own["scale"] = 3.0
print(scaled(torch.ones(2)))
settings.maps[1]["shift"] = 7.0
print(scaled(torch.ones(2)))
