"""Fit a model to a series, and continue the series."""

import torch
from torch.nn import functional

from .model import Forecaster
from .windows import windows_of


def fit(model: Forecaster, series: torch.Tensor, steps: int, rate: float = 0.01) -> list[float]:
    """Train the model; the loss of each step."""
    windows, following = windows_of(series, model.window)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    compiled = torch.compile(model)
    losses = []
    model.train()
    for _ in range(steps):
        optimizer.zero_grad()
        loss = functional.mse_loss(compiled(windows), following)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@torch.no_grad()
def forecast(model: Forecaster, series: torch.Tensor, count: int) -> torch.Tensor:
    """The next values, each from those before it."""
    model.eval()
    values = series[-model.window :].clone()
    for _ in range(count):
        following = model(values[-model.window :].unsqueeze(0))
        values = torch.cat([values, following])
    return values[-count:]
