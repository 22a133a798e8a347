"""What the fields of dataclasses say of JSON documents; `dynamo_reporters/documents.py` goes by it.

Bounds of annotated numbers: `Annotated[int, Ge(1), "what it counts"]`. Where the value has another name in
the source: `At`. Metadata of a field: `INLINE`, whose own fields stand in its place, and `NOT_IN_JSON`, which
documents leave out.
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


@dataclass(frozen=True)
class At:
    """Where `from_fields` finds the value of a field: a path of attributes, `times.untimed`."""

    path: str


Count = Annotated[int, Ge(0)]
Seconds = Annotated[float, Ge(0)]

INLINE = {"inline": True}
NOT_IN_JSON = {"in_json": False}
