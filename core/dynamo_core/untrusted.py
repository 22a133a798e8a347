"""Text that may come from a stranger's recording, made fit for a terminal.

Applied where recordings are read, so that nothing behind the reader can forget it.
"""

import re
from typing import Any

# Control characters but for newline and tab, among them those that begin terminal escapes, and the marks
# that turn the direction of text.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """`text` with whatever a terminal would obey spelled out."""
    if text.isascii() and text.isprintable():
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
