"""Exponential smoothing of sales, by kinds of days."""

import torch
from calendar_days import Day


class SeasonalSmoothing:
    """Holds the level of each product, as of a usual day."""

    def __init__(self, products: int, rate: float = 0.3) -> None:
        self.level = torch.full((products,), 10.0)
        self.trend = torch.zeros(products)
        self.rate = rate
        self.smooth = torch.compile(self.smoothed)

    def smoothed(
        self, level: torch.Tensor, trend: torch.Tensor, sales: torch.Tensor, day: Day
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Level and trend after a day's sales; holidays say nothing about the trend."""
        usual = sales / day.value
        expected = level + trend
        rate = self.rate * torch.sigmoid(expected / (1 + (usual - expected).abs()))
        after = expected + rate * (usual - expected)
        if day is Day.HOLIDAY:
            return after, trend
        return after, 0.8 * trend + 0.2 * (after - level)

    def observe(self, sales: torch.Tensor, day: Day) -> None:
        self.level, self.trend = self.smooth(self.level, self.trend, sales, day)

    def forecast(self, day: Day) -> torch.Tensor:
        """Sales of the next day, if it is of this kind."""
        return (self.level + self.trend) * day.value
