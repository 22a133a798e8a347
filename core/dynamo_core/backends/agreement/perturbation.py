"""Inputs that differ from others in their last bits: how far rounding alone can move a graph's results.

Where a graph has a step (the derivative of a ReLU at 0, the index of a largest value), two programs that
round differently can stand on different sides of it, and neither is wrong. And a long sum depends on its
order: eager's is in pairs and nearly exact, a compiler's in a row, with an error as of terms that are changed
by the square root of their number (Higham, Accuracy and Stability of Numerical Algorithms, 4.2), which is
large beside a result in which the terms cancel.
"""

from collections.abc import Sequence
from typing import Any

from .clones import clone_with_aliases, overlaps

# How far a value is moved: at most so many times the distance to its dtype's next number, ...
_BITS = 2.0
# ... or, where that is more, this share of the square root of their number, in the precision of sums.
# Compiled loops sum in several lanes and blocks, which keeps them below the whole of it.
_OF_THE_ROOT = 1 / 16
# Added to a seed: a program's own is often small, and the changes would go along with its random values.
_FAR_FROM_OTHERS = 0x5EED_0000


def with_other_last_bits(values: Sequence[Any], seed: int) -> list[Any]:
    """Clones, as `clone_with_aliases` makes them; floating point tensors are changed by rounding errors.

    The same seed gives the same changes; the program's generators are left alone. Zeros stay zeros.
    """
    import torch

    changed = clone_with_aliases(values)
    with torch.no_grad():
        for index, value in enumerate(changed):
            if _can_be_changed(value):
                change(value, seed * len(changed) + index, max(_last_bits(value), _in_a_sum(value)))
    return changed


def with_other_rounding(value: Any, seed: int, share: float = 0.0) -> Any:
    """A copy of what an operation gave, rounded otherwise: by this share of each number or more.

    Numbers of less than 32 bits stay as they are: eager rounds those after each operation, and its own error
    tells what that does.
    """
    if not _can_be_changed(value) or _is_short(value):
        return value
    copied = value.clone()
    change(copied, seed, max(share, _last_bits(value)))
    return copied


def change(value: Any, seed: int, most: float) -> None:
    """Change each number in place, by at most this share of it."""
    import torch

    generator = torch.Generator(value.device).manual_seed(_FAR_FROM_OTHERS + seed)
    noise = torch.rand(value.shape, device=value.device, generator=generator).mul_(2).sub_(1)
    noise = noise.to(torch.promote_types(value.dtype, torch.float32))
    value.copy_(value * (1 + noise * most))


def _last_bits(value: Any) -> float:
    import torch

    return _BITS * float(torch.finfo(value.dtype).eps)


def _is_short(value: Any) -> bool:
    return bool(value.dtype.itemsize < 4)


def _in_a_sum(value: Any) -> float:
    """The largest relative change of its numbers that stands for the error of a sum of them."""
    import torch

    summed_in = torch.promote_types(value.dtype, torch.float32)
    return float(_OF_THE_ROOT * value.numel() ** 0.5 * torch.finfo(summed_in).eps)


def _can_be_changed(value: Any) -> bool:
    import torch

    return (
        isinstance(value, torch.Tensor)
        and value.is_floating_point()
        and value.layout is torch.strided
        and value.dtype.itemsize > 1
        and not overlaps(value)
    )
