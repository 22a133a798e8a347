"""Sensors of a machine: each kind has its own way to send a window of readings."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

WINDOW = 64


@dataclass(frozen=True)
class Reading:
    """One window of readings, as the sensor's driver gives it."""

    sensor: str
    values: np.ndarray


def _pressure(random: np.random.Generator) -> np.ndarray:
    return random.normal(5.0, 0.4, WINDOW)


def _vibration(random: np.random.Generator) -> np.ndarray:
    return random.normal(0.0, 1.0, WINDOW).astype(np.float32)


def _counter(random: np.random.Generator) -> np.ndarray:
    return random.integers(0, 40, WINDOW)


def _temperature(random: np.random.Generator) -> np.ndarray:
    return random.normal(60.0, 2.0, WINDOW).astype(np.float16)


DRIVERS = {"pressure": _pressure, "vibration": _vibration, "counter": _counter, "temperature": _temperature}


def readings(rounds: int, seed: int) -> Iterator[Reading]:
    """Windows of all sensors in turn; every fifth has a jump in it."""
    random = np.random.default_rng(seed)
    number = 0
    for _ in range(rounds):
        for sensor, read in DRIVERS.items():
            values = read(random)
            if number % 5 == 4:
                values[WINDOW // 2 :] += values.dtype.type(values.std() * 4)
            number += 1
            yield Reading(sensor, values)
