import torch
from torch.nn.functional import interpolate


@torch.compile(backend="eager")
def resized(x, side):
    return interpolate(x, size=(side, side)) * 2


for step in range(12):
    print(tuple(resized(torch.ones(1, 1, 16, 16), int(16 * (1 + step / 8))).shape))
