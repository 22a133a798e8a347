"""Whether compiled code agrees with eager: clones to run on, a float64 reference, a comparison."""

from .compare import (
    Comparison,
    change_last_bits,
    compare,
    rounded_otherwise,
    rounding_mode,
    with_other_last_bits,
)
from .random_numbers import RandomState, draws_random_numbers
from .reference import clone_with_aliases, float64_reference, in_float64, is_shielded, shares_memory, shielded

__all__ = [
    "Comparison",
    "RandomState",
    "change_last_bits",
    "clone_with_aliases",
    "compare",
    "draws_random_numbers",
    "float64_reference",
    "in_float64",
    "is_shielded",
    "rounded_otherwise",
    "rounding_mode",
    "shares_memory",
    "shielded",
    "with_other_last_bits",
]
