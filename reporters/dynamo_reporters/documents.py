"""JSON values and their schema from one declaration: the dataclass that holds the data."""

from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from dynamo_core.model import Place, StackFrame

from .report import place_value, stack_value

_SCALARS = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
}
_NAMED = {
    Place: {"$ref": "common.schema.json#/$defs/place"},
    StackFrame: {"$ref": "common.schema.json#/$defs/stack/items"},
}


def json_value(value: Any) -> Any:
    """A dataclass as an object with its fields in order, a tuple as a list, a place as everywhere else."""
    if isinstance(value, Place):
        return place_value(value)
    if isinstance(value, StackFrame):
        return stack_value([value])[0]
    if is_dataclass(value):
        return {field.name: json_value(getattr(value, field.name)) for field in fields(value)}
    return [json_value(item) for item in value] if isinstance(value, tuple | list) else value


def json_schema(declared: Any) -> dict[str, Any]:
    """The schema of what `json_value` makes of a value of this type.

    TypeError for a type that no document has yet.
    """
    if declared in _SCALARS:
        return dict(_SCALARS[declared])
    if declared in _NAMED:
        return dict(_NAMED[declared])
    if is_dataclass(declared) and isinstance(declared, type):
        hints = get_type_hints(declared)
        properties = {field.name: json_schema(hints[field.name]) for field in fields(declared)}
        text = " ".join((declared.__doc__ or "").split())
        return {
            "type": "object",
            "description": text,
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
    origin, arguments = get_origin(declared), get_args(declared)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (tuple, list) and arguments:
        return {"type": "array", "items": json_schema(arguments[0])}
    if origin in (Union, UnionType):
        kinds = [{"type": "null"} if each is NoneType else json_schema(each) for each in arguments]
        return {"anyOf": kinds}
    raise TypeError(f"no schema is known for {declared!r}")
