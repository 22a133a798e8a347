"""The version of torch that the tests run with, which they do not import."""

from importlib.metadata import version

import pytest

TORCH = tuple(int(part) for part in version("torch").split(".")[:2])


def skip_where_torch_is_right(compiled: str, plain: str) -> None:
    """Skip what is about a fault of torch 2.13 that another version has not, by what a program prints."""
    if compiled == plain and TORCH != (2, 13):
        pytest.skip(f"torch {TORCH[0]}.{TORCH[1]} computes it right")
