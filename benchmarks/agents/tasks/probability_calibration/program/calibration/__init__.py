"""Calibrated probabilities of classifiers."""

from calibration.errors import expected_error
from calibration.scaling import FewClasses, TemperatureScaling

__all__ = ["FewClasses", "TemperatureScaling", "expected_error"]
