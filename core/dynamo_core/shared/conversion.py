"""Dataclasses from JSON values, and from objects that have fields of the same names."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, reduce
from types import UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from .declared import At
from .validation import matches

_Kind = TypeVar("_Kind")


def from_fields(kind: type[_Kind], source: object, /, **others: Any) -> _Kind:
    """A `kind` with the fields `others`; `source` has all further ones, under their names or where `At` says.

    What is None on the way there makes the field None.
    """
    paths = _paths(cast(Any, kind))
    return kind(
        **{name: reduce(_attribute, at, source) for name, at in paths if name not in others}, **others
    )


def _attribute(value: Any, name: str) -> Any:
    return None if value is None else getattr(value, name)


@cache
def _paths(kind: Any) -> list[tuple[str, list[str]]]:
    """Each field, and the attributes that lead to its value."""
    found = []
    for field in fields(kind):
        notes = getattr(field.type, "__metadata__", ())
        path = next((note.path for note in notes if isinstance(note, At)), field.name)
        found.append((field.name, path.split(".")))
    return found


def from_json(kind: type[_Kind], value: Any) -> _Kind:
    """A dataclass from its JSON value, the inverse of `dataclasses.asdict`; unknown fields are ignored.

    ValueError where a field is missing or of another type.
    """
    try:
        built = _build(kind, value)
    except TypeError as error:
        raise ValueError(f"it is no {kind.__name__}: {error}") from error
    if not matches(built, kind):
        raise ValueError(f"it is no {kind.__name__}")
    return built  # type: ignore[no-any-return]


def _build(hint: Any, value: Any) -> Any:
    if is_dataclass(hint) and isinstance(value, Mapping):
        hints = get_type_hints(hint)
        missing = [
            each.name
            for each in fields(hint)
            if each.default is MISSING and each.default_factory is MISSING and each.name not in value
        ]
        if missing:
            raise ValueError(f"it has no {missing[0]}")
        return hint(**{name: _build(hints[name], value[name]) for name in hints if name in value})  # type: ignore[operator]
    if hasattr(hint, "_fields") and isinstance(value, list):
        return hint(*value)
    if get_origin(hint) is tuple and isinstance(value, list):
        return tuple(_build(get_args(hint)[0], each) for each in value)
    if get_origin(hint) in (Union, UnionType):
        kinds = [each for each in get_args(hint) if _is_built(each)]
        return _build(kinds[0], value) if kinds and value is not None else value
    return value


def _is_built(hint: Any) -> bool:
    return is_dataclass(hint) or hasattr(hint, "_fields") or get_origin(hint) is tuple
