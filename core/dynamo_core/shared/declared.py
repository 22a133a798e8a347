"""What a declared number can be, beside its type: `Annotated[int, Ge(1), "what it counts"]`.

`dynamo_reporters/documents.py` makes the schemas of documents of it.
"""

from typing import Annotated

from .quick_dataclass import dataclass


@dataclass(frozen=True)
class Ge:
    """The smallest that an annotated number can be; null is none."""

    value: int


@dataclass(frozen=True)
class Gt:
    """What an annotated number is greater than."""

    value: int


Count = Annotated[int, Ge(0)]
Seconds = Annotated[float, Ge(0)]
