"""A function returns a setting that a calibration has put before the default, to the line that uses it.

An idea of our own.
kind: value
stage: guards
"""

from collections import ChainMap

import torch

limits = ChainMap({}, {"low": -1.0, "high": 1.0})


def low():
    return limits["low"]


def high():
    return limits["high"]  # cause


class Sensor:
    def __init__(self, gain):
        self.gain = gain

    def clipped(self, x):
        x = x * self.gain
        return x.clamp(low(), high())


sensor = Sensor(3.0)


@torch.compile(backend="eager")
def read(x):
    x = x - x.mean()
    return sensor.clipped(x).cumsum(0)


for high_limit in (None, 0.25):
    if high_limit is not None:
        limits["high"] = high_limit
    print(read(torch.linspace(-1, 1, 5)))
