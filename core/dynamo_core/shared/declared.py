"""Bounds of annotated numbers: `Annotated[int, Ge(1), "what it counts"]`.

`dynamo_reporters/documents.py` makes the JSON schemas of documents from them.
"""

from typing import Annotated

from .quick_dataclass import dataclass


@dataclass(frozen=True)
class Ge:
    """The smallest value of an annotated number; null is allowed where the type allows it."""

    value: int


@dataclass(frozen=True)
class Gt:
    """The bound that an annotated number is greater than."""

    value: int


Count = Annotated[int, Ge(0)]
Seconds = Annotated[float, Ge(0)]
