"""Blocks with every text in them made printable: the recording's own path may hold anything, too."""

from dataclasses import fields, replace
from typing import Any

from dynamo_core.shared.untrusted import printable

from .blocks import Block


def printed(block: Block) -> Block:
    """The same block, with whatever a terminal would obey spelled out."""
    safe = {field.name: _printable(getattr(block, field.name)) for field in fields(block)}
    return replace(block, **safe)


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list | tuple):
        return [_printable(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):  # a column, or a line of a comparison
        return replace(value, **{f.name: _printable(getattr(value, f.name)) for f in fields(value)})
    return value
