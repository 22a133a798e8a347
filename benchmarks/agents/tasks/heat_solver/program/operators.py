"""Differences on the grid."""

import torch


def laplacian(field: torch.Tensor) -> torch.Tensor:
    """The sum of the differences to the four neighbours; the edges insulate."""
    padded = torch.nn.functional.pad(field[None, None], (1, 1, 1, 1), mode="replicate")[0, 0]
    rows = padded[:-2, 1:-1] + padded[2:, 1:-1]
    columns = padded[1:-1, :-2] + padded[1:-1, 2:]
    return rows + columns - 4.0 * field


def gradient_norm(field: torch.Tensor) -> torch.Tensor:
    """How steep the field is, between the points."""
    down = field[1:, :-1] - field[:-1, :-1]
    right = field[:-1, 1:] - field[:-1, :-1]
    return torch.sqrt(down.square() + right.square())
