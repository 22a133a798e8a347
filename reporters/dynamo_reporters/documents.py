"""JSON values and their schema from one declaration: the dataclass that holds the data.

What a field means, where its name does not say so: `Annotated[int, "what it counts"]`. Which numbers it can
be, where not all of them: `Annotated[int, Ge(1)]`, with the meaning or without it. What several of them
hold says by what name it stands in `common.schema.json`: `in_common: ClassVar[str] = "failure"`.
"""

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from dynamo_core.model import CompileId, Place, Process, StackFrame
from dynamo_core.shared.declared import At, Ge, Gt

_SCALARS = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
}
_NAMED = {
    CompileId: {"$ref": "common.schema.json#/$defs/compile_id"},
    Place: {"$ref": "common.schema.json#/$defs/place"},
    Process: {"$ref": "common.schema.json#/$defs/process"},
    StackFrame: {"$ref": "common.schema.json#/$defs/stack/items"},
}


def json_value(value: Any) -> Any:
    """A dataclass as an object with its fields in order, a tuple as a list, a place as everywhere else.

    A field `class_` is `class`; the fields of one that is `INLINE` stand in its place.
    """
    if isinstance(value, CompileId):
        return str(value)
    if isinstance(value, Place):
        return {"file": value.file, "line": value.line}
    if isinstance(value, Process):  # what distinguishes the processes of one recording
        return {"stream": value.stream.name, "pid": value.info.pid, "rank": value.rank}
    if isinstance(value, StackFrame):
        place = value.place
        return {"file": place.file, "line": place.line, "name": value.function, "text": value.text}
    if _has_fields(value):
        content: dict[str, Any] = {}
        for field, name in _names(cast(Any, type(value))):
            item = json_value(getattr(value, field))
            content |= item if name is None else {name: item}
        return content
    if isinstance(value, dict):
        return dict(zip(value, map(json_value, value.values()), strict=True))
    # By map: before Python 3.12 a comprehension is a frame more, and chains of breaks are deep.
    return list(map(json_value, value)) if isinstance(value, tuple | list) else value


def _has_fields(value: Any) -> bool:
    """Whether it is a dataclass, a named tuple or a record of ours, or an instance of one."""
    return is_dataclass(value) or hasattr(value, "_fields") or hasattr(value, "field_names")


@cache
def _names(declared: Any) -> tuple[tuple[str, str | None], ...]:
    """The fields of a class, and their names in JSON; None for an `INLINE` one."""
    if not is_dataclass(declared):
        names = declared._fields if hasattr(declared, "_fields") else declared.field_names()
        return tuple((name, name) for name in names)
    return tuple(
        (field.name, None if "inline" in field.metadata else field.name.rstrip("_"))
        for field in fields(declared)
        if field.metadata.get("in_json", True)
    )


def json_schema(declared: Any) -> dict[str, Any]:
    """The schema of what `json_value` makes of a value of this type; of `Any`, one that allows everything.

    TypeError for a type that no document has yet.
    """
    if declared is Any:
        return {}
    if declared in _SCALARS:
        return dict(_SCALARS[declared])
    if declared in _NAMED:
        return dict(_NAMED[declared])
    if isinstance(declared, type) and _has_fields(declared):
        name = getattr(declared, "in_common", None)
        return object_schema(declared) if name is None else {"$ref": f"common.schema.json#/$defs/{name}"}
    origin, arguments = get_origin(declared), get_args(declared)
    if origin is Annotated:
        return json_schema(arguments[0]) | dict(
            _keyword(note) for note in arguments[1:] if not isinstance(note, At)
        )
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is list or (origin is tuple and arguments[-1:] == (...,)):
        return {"type": "array", "items": json_schema(arguments[0])}
    if origin is tuple:
        length = len(arguments)
        places = list(map(json_schema, arguments))
        return {"type": "array", "prefixItems": places, "minItems": length, "maxItems": length}
    if origin in (dict, Mapping) and arguments[0] is str:
        return {"type": "object", "additionalProperties": json_schema(arguments[1])}
    if origin in (Union, UnionType):
        kinds = [{"type": "null"} if each is NoneType else json_schema(each) for each in arguments]
        return {"anyOf": kinds}
    raise TypeError(f"no schema is known for {declared!r}")


def _keyword(note: Any) -> tuple[str, Any]:
    """What an annotation says, by its name in a schema."""
    if isinstance(note, Ge):
        return "minimum", note.value
    return ("exclusiveMinimum", note.value) if isinstance(note, Gt) else ("description", note)


def object_schema(declared: type) -> dict[str, Any]:
    """The schema of a dataclass itself, also of one that `json_schema` refers to by its name."""
    hints = get_type_hints(declared, include_extras=True)
    properties: dict[str, Any] = {}
    for field, name in _names(declared):
        hint = hints[field]
        properties |= object_schema(hint)["properties"] if name is None else {name: json_schema(hint)}
    return {
        "type": "object",
        "description": " ".join((declared.__doc__ or "").split()),
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


# Values for other programs: JSON without what is no JSON, and cells that a spreadsheet does not compute.


# What spreadsheets take for the start of a formula, also behind what they do not show.
_FORMULA = re.compile(
    r"[\s\x00-\x20\x7f-\xa0\xad\u200b-\u200f\u2060-\u2064\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]"
)


def json_text(value: Any, indent: int | None = None, *, is_short: bool = False) -> str:
    """JSON that every parser reads: a number that is none (NaN, Infinity) is null.

    Where it is to be short, there are no spaces, and characters stand as they are.
    """
    separators = (",", ":") if is_short else None
    write = partial(
        json.dumps, indent=indent, allow_nan=False, separators=separators, ensure_ascii=not is_short
    )
    try:
        return write(value)
    except ValueError:
        return write(_finite(value))


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """A table as CSV (RFC 4180), with a header. What is not known is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: csv_cell(value) for name, value in row.items()} for row in rows)
    return text.getvalue()


def csv_cell(value: Any) -> Any:
    """Text that would be a formula begins with an apostrophe, numbers stay numbers; None for NaN."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


# Shares of a whole in percent, rounded so that what adds up is shown as adding up to 100 %.


def shares_of(parts: Sequence[float | None], whole: float, digits: int = 1) -> list[str]:
    """Each part in percent; "" for one that is not known. Parts that are more than the whole are shown so.

    All are rounded down, and what is then missing of their sum goes to those that lost most: none is off by
    more than a unit of its last digit.
    """
    if not whole:
        return ["" for _ in parts]
    exact = [100 * 10**digits * (part or 0.0) / whole for part in parts]
    shown = [int(each) for each in exact]
    missing = round(sum(exact)) - sum(shown)
    lost = sorted(range(len(parts)), key=lambda at: shown[at] - exact[at])
    for at in lost[:missing]:
        shown[at] += 1
    return [
        "" if part is None else f"{each / 10**digits:.{digits}f}%"
        for part, each in zip(parts, shown, strict=True)
    ]
