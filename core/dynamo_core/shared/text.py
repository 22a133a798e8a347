"""Makes text of a recording safe for a terminal, and parses its JSON with bounded memory.

Both are applied where a recording is read, so that the code after the reader need not think of it.
"""

import json
import re
import sys
from collections.abc import Callable
from typing import Any

# Control characters but for newline and tab, among them those that begin terminal escapes, and the marks
# that turn the direction of text.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_SAFE_ASCII = bytes(range(0x20, 0x7F)) + b"\n\t"  # ASCII that is not in _CONTROL
_CONTROL_IN_JSON = re.compile(r"\\[bfru]")  # spelled as an escape


def printable(text: str) -> str:
    """The text with control characters, which a terminal would interpret, as escapes."""
    if text.isascii() and not text.encode().translate(None, _SAFE_ASCII):  # five times as fast as a search
        return text
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def file_name(text: str) -> str:
    """The text as a part of a path: `Linear_2` for `Linear (2)`; "" where no letter of it can stand there."""
    return re.sub(r"[^\w.-]+", "_", text).strip("._-")


def by_its_name(text: str, name: str) -> str:
    """The text with no folder before a file's name; of a long path guards have the end alone."""
    return re.sub(rf"""[^\s"'(]*/{re.escape(name)}""", name, text)


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
    """The value of JSON text, with every string in it made printable. Raises the errors of `checked_json`."""
    value = checked_json(text, most_values)  # it rejects raw control characters, except DEL
    if text.isascii() and "\x7f" not in text and ("\\" not in text or not _CONTROL_IN_JSON.search(text)):
        return value
    return printable_values(value)


def checked_json(text: str, most_values: int = 2_000_000) -> Any:
    """The value of JSON text, with strings as they are.

    Raises the errors of json.loads, and ValueError for NaN, for infinities, and for more values than
    `most_values`: a few bytes of text can be a hundred in memory.
    """
    if len(text) > most_values and sum(map(text.count, ",[{")) > most_values:
        raise ValueError(f"it holds more than {most_values:,} values")
    try:
        value, end = _scan(text, 0)  # as `decode`, without skipping white space around it
    except StopIteration:
        return _STRICT.decode(text)
    return value if end == len(text) else _STRICT.decode(text)
