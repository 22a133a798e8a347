"""What may come from a stranger's recording: text made fit for a terminal, and values of the wrong type.

Applied where recordings are read, so that nothing behind the reader can forget it.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

# Control characters but for newline and tab, among them those that begin terminal escapes, and the marks
# that turn the direction of text.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_LARGEST_NUMBER = 2**63
_CONTROL_IN_JSON = re.compile(r"\\[bfru]")  # spelled as an escape


def printable(text: str) -> str:
    """`text` with whatever a terminal would obey spelled out."""
    if text.isascii() and (text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable()):
        return text
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def printable_values(value: Any) -> Any:
    """A JSON value with every string in it, keys too, made printable."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [printable_values(item) for item in value]
    if isinstance(value, dict):
        return {printable(key): printable_values(item) for key, item in value.items()}
    return value


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number of JSON's")


def _finite(text: str) -> float:
    number = float(text)
    if abs(number) > sys.float_info.max:
        raise ValueError("a number that is too large")
    return number


_STRICT = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite)
_scan: Callable[[str, int], tuple[Any, int]] = _STRICT.scan_once  # type: ignore[attr-defined]


def printable_json(text: str, most_values: int = 2_000_000) -> Any:
    """What JSON says, with every string in it made printable. Raises what `checked_json` does."""
    value = checked_json(text, most_values)  # which refuses control characters as they are, but for DEL
    if text.isascii() and "\x7f" not in text and ("\\" not in text or not _CONTROL_IN_JSON.search(text)):
        return value
    return printable_values(value)


def checked_json(text: str, most_values: int = 2_000_000) -> Any:
    """What JSON says, with strings as they are.

    Raises what json.loads does, and ValueError for NaN, for infinities, and for more values than
    `most_values`: a few bytes of text can be a hundred in memory.
    """
    if len(text) > most_values and sum(map(text.count, ",[{")) > most_values:
        raise ValueError(f"it holds more than {most_values:,} values")
    try:
        value, end = _scan(text, 0)  # what `decode` does, without looking for white space around it
    except StopIteration:
        return _STRICT.decode(text)
    return value if end == len(text) else _STRICT.decode(text)


def fits(value: Any, hint: Any) -> bool:
    """Whether `value` is what the annotation `hint` says, down to the last field and item.

    A number that no torch would write, and that cannot be computed with (NaN, 10**400), fits nowhere; True
    and False are no numbers.
    """
    return _check(hint)(value)


def _is_number(value: Any, kind: Any) -> bool:
    """A truth value is none, though Python counts with it: JSON tells them apart, and so do our schemas."""
    return isinstance(value, kind) and not isinstance(value, bool) and abs(value) <= _LARGEST_NUMBER


@cache
def _field_checks(kind: Any) -> list[tuple[str, Callable[[Any], bool]]]:
    """Asked for when a value is there, as a field may hold another of the same kind."""
    return [(name, _check(hint)) for name, hint in get_type_hints(kind).items()]


@cache
def _check(hint: Any) -> Callable[[Any], bool]:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        choices = [_check(argument) for argument in arguments if argument is not NoneType]
        if NoneType not in arguments:
            return lambda value: any(choice(value) for choice in choices)
        if len(choices) == 1:
            (only,) = choices  # most fields are X or None: no loop for them
            return lambda value: value is None or only(value)
        return lambda value: value is None or any(choice(value) for choice in choices)
    if origin is tuple and arguments[-1] is not Ellipsis:
        items = [_check(argument) for argument in arguments]
        return lambda value: (
            isinstance(value, tuple)
            and len(value) == len(items)
            and all(item(part) for item, part in zip(items, value, strict=True))
        )
    if origin in (tuple, list):
        each = _check(arguments[0])
        return lambda value: isinstance(value, origin) and all(map(each, value))
    if origin in (dict, Mapping):
        key, item = map(_check, arguments)
        return lambda value: (
            isinstance(value, dict) and all(map(key, value)) and all(map(item, value.values()))
        )
    if origin is Literal:
        return lambda value: isinstance(value, str) and value in arguments
    if hint is Any:
        return lambda value: True
    if hint is float:
        return lambda value: type(value) in (int, float) and abs(value) <= _LARGEST_NUMBER
    if hint is int:
        return lambda value: type(value) is int and abs(value) <= _LARGEST_NUMBER
    if is_dataclass(hint) or hasattr(hint, "_fields"):
        return lambda value: (
            isinstance(value, hint)
            and all(check(getattr(value, name)) for name, check in _field_checks(hint))
        )
    return lambda value: isinstance(value, hint)
