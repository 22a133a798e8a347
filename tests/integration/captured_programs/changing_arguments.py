"""Numbers, strings, None, enums and shapes that change from call to call, as schedules and modes do."""

import enum
import math

import torch

torch.manual_seed(0)


class Mode(enum.Enum):
    SUM = "sum"
    MEAN = "mean"


def reduce(x, mode, scale=1.0, power=None, name="x"):
    if power is not None:
        x = x**power
    out = x.sum() if mode is Mode.SUM else x.mean()
    return out * scale + len(name)


for step in range(6):
    x = torch.arange(1.0, step + 2)
    print(reduce(x, Mode.SUM, 0.1 * step).item(), reduce(x, Mode.MEAN, power=step / 2).item())
for scale in (-0.0, math.inf, math.nan, 1e300, 2**40, True, 1e-320):
    print(scale, reduce(torch.ones(2), Mode.SUM, scale, name="").tolist())
print(math.copysign(1, reduce(torch.zeros(2), Mode.SUM, -0.0, name="").item()))
print(math.copysign(1, reduce(torch.zeros(2), Mode.SUM, 0.0, name="").item()))
for size in (0, 1, 2, 7):
    print(reduce(torch.ones(size, 3), Mode.MEAN).item(), reduce(torch.ones(3, size), Mode.SUM).item())
for dtype in (torch.float64, torch.float32, torch.int64):
    print(reduce(torch.ones(2, dtype=dtype), Mode.SUM, 3, 2).dtype)
