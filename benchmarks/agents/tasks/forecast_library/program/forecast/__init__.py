"""Forecasts of time series by a small recurrent model."""

from .fitting import fit, forecast
from .model import Forecaster

__all__ = ["Forecaster", "fit", "forecast"]
