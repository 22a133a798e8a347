"""Characteristics of thermocouples: voltages in millivolts, temperatures in degrees Celsius."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Characteristic:
    """Points between which a straight line is taken."""

    voltages: np.ndarray
    temperatures: np.ndarray

    def temperature(self, voltages: np.ndarray) -> np.ndarray:
        """Temperatures of voltages; those outside the table get its first or last."""
        return np.interp(voltages, self.voltages, self.temperatures)


TYPE_K = Characteristic(
    voltages=np.array([-1.889, 0.0, 2.023, 4.096, 6.138, 8.138, 10.153, 12.209]),
    temperatures=np.array([-50.0, 0.0, 50.0, 100.0, 150.0, 200.0, 250.0, 300.0]),
)
