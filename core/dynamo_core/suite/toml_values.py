"""Values of a TOML table, by key: of the type that is asked for, or None where the key is not there."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from ..shared.errors import SuiteProblem
from ..shared.near_names import did_you_mean


class ValueProblem(Exception):
    """What is wrong with a value, to be said behind the table's place."""


def refuse_unknown(where: str, table: Mapping[str, Any], known: Sequence[str]) -> None:
    """SuiteProblem for the first key that is not known."""
    for key in table:
        if key not in known:
            hint = did_you_mean(key, known) or f"known are {', '.join(known)}"
            raise SuiteProblem(f"{where} has {key!r}, which is not known; {hint}")


def text(table: Mapping[str, Any], key: str) -> str | None:
    """A text that is not empty."""
    value = table.get(key)
    if value is not None and not (isinstance(value, str) and value):
        raise ValueProblem(f"{key} is no text")
    return value


def texts(table: Mapping[str, Any], key: str) -> tuple[str, ...] | None:
    """A list of texts."""
    value = table.get(key)
    if value is None:
        return None
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise ValueProblem(f"{key} is no list of texts")
    return tuple(value)


def whole_number(table: Mapping[str, Any], key: str, *, least: int = 0) -> int | None:
    """A whole number from `least`."""
    value = table.get(key)
    if value is not None and (type(value) is not int or value < least):
        raise ValueProblem(f"{key} is not a whole number from {least}")
    return value


def number(table: Mapping[str, Any], key: str, *, above: float | None = None) -> float | None:
    """A number from 0, or `above` another."""
    value = table.get(key)
    if value is None:
        return None
    least = 0 if above is None else above
    if type(value) not in (int, float) or not isfinite(value) or value < least or value == above:
        raise ValueProblem(f"{key} is not a number {'from 0' if above is None else f'above {above:g}'}")
    return float(value)
