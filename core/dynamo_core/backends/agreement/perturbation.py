"""Inputs that differ from others in their last bits: how far rounding alone can move a graph's results.

Where a graph has a step (the derivative of a ReLU at 0, the index of a largest value), two programs that
round differently can stand on different sides of it, and neither is wrong.
"""

from collections.abc import Sequence
from typing import Any

from .clones import clone_with_aliases, overlaps

# How far a value is moved: at most so many times the distance to its dtype's next number.
_BITS = 2.0


def with_other_last_bits(values: Sequence[Any], seed: int) -> list[Any]:
    """Clones, as `clone_with_aliases` makes them; floating point tensors are changed by rounding errors.

    The same seed gives the same changes; the program's generators are left alone. Zeros stay zeros.
    """
    import torch

    changed = clone_with_aliases(values)
    with torch.no_grad():
        for index, value in enumerate(changed):
            if _can_be_changed(value):
                generator = torch.Generator(value.device).manual_seed(seed * len(changed) + index)
                noise = torch.rand(value.shape, device=value.device, generator=generator).mul_(2).sub_(1)
                noise = noise.to(torch.promote_types(value.dtype, torch.float32))
                value.copy_(value * (1 + noise * (_BITS * torch.finfo(value.dtype).eps)))
    return changed


def _can_be_changed(value: Any) -> bool:
    import torch

    return (
        isinstance(value, torch.Tensor)
        and value.is_floating_point()
        and value.layout is torch.strided
        and value.dtype.itemsize > 1
        and not overlaps(value)
    )
