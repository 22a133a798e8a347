"""Values for other programs: JSON without what is no JSON, and cells that a spreadsheet does not compute."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

# What spreadsheets take for the begin of a formula, also behind what they do not show.
_FORMULA = re.compile(
    r"[\s\x00-\x20\x7f-\xa0\xad\u200b-\u200f\u2060-\u2064\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]"
)


def json_text(value: Any, indent: int | None = None) -> str:
    """JSON that every parser reads: a number that is none (NaN, Infinity) is null."""
    try:
        return json.dumps(value, indent=indent, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), indent=indent, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def csv_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """The cells of a row; text that would be a formula begins with an apostrophe, numbers stay numbers."""
    return {name: _cell(value) for name, value in row.items()}


def _cell(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value
