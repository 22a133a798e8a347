"""Rounding to a grid through which gradients pass."""

import torch


class RoundToGrid(torch.autograd.Function):
    """Rounds to multiples of a step; the gradient passes where the value was not clamped."""

    roundings = 0

    @staticmethod
    def forward(ctx, values: torch.Tensor, step: float, levels: int) -> torch.Tensor:
        RoundToGrid.roundings += 1
        limit = step * levels
        ctx.save_for_backward(values.abs() <= limit)
        return (values.clamp(-limit, limit) / step).round() * step

    @staticmethod
    def backward(ctx, gradient: torch.Tensor):
        (is_inside,) = ctx.saved_tensors
        return gradient * is_inside, None, None


def quantised(values: torch.Tensor, bits: int, limit: float = 1.0) -> torch.Tensor:
    """Values on a symmetric grid of so many bits."""
    levels = 2 ** (bits - 1) - 1
    return RoundToGrid.apply(values, limit / levels, levels)
