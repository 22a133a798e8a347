"""Which sizes must be dynamic, from those of all calls, as torch.export takes it and as it is typed."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from .inputs import Sizes, is_named_tuple, parts

# The dimensions of a tensor by its name; of a whole number none.
Varied = Mapping[str, tuple[int, ...]]


def varied_dimensions(
    seen: Mapping[str, Iterable[Sizes]], constants: Mapping[str, Collection[str]]
) -> dict[str, tuple[int, ...]]:
    """The dimensions whose size was not the same in all calls, and the whole numbers that were not."""
    found: dict[str, tuple[int, ...]] = {
        name: () for name, values in constants.items() if len(values) > 1 and all(map(_is_whole, values))
    }
    for name, sizes in seen.items():
        columns = zip(*sizes, strict=True)
        dimensions = tuple(index for index, column in enumerate(columns) if len(set(column)) > 1)
        if dimensions:
            found[name] = dimensions
    return found


def _is_whole(value: str) -> bool:
    return value.removeprefix("-").isdigit()


def dynamic_shapes(arguments: Mapping[str, Any], varied: Varied) -> dict[str, Any]:
    """What torch.export takes for these arguments: a mark for each varied dimension, None elsewhere.

    A container of a type that torch was told of is spelled as the list of what is in it.
    """
    return {name: _shapes(value, name, varied) for name, value in arguments.items()}


def _shapes(value: Any, name: str, varied: Varied) -> Any:
    from torch.export import Dim

    inside = parts(value)
    if inside is None:
        if varied.get(name) == ():
            return Dim.DYNAMIC
        return dict.fromkeys(varied.get(name, ()), Dim.DYNAMIC) or None
    shapes = [_shapes(part, f"{name}{suffix}", varied) for suffix, part in inside]
    if is_named_tuple(value):
        return type(value)(*shapes)
    if type(value) is dict:
        return dict(zip(value, shapes, strict=True))
    return tuple(shapes) if type(value) is tuple else shapes


def as_code(shapes: Any) -> str:
    """The same as it is typed, after `from torch.export import Dim`."""
    if is_named_tuple(shapes):
        fields = ", ".join(f"{name}={as_code(getattr(shapes, name))}" for name in shapes._fields)
        return f"{type(shapes).__name__}({fields})"
    if isinstance(shapes, tuple):
        return f"({', '.join(map(as_code, shapes))}{',' if len(shapes) == 1 else ''})"
    if isinstance(shapes, list):
        return f"[{', '.join(map(as_code, shapes))}]"
    if isinstance(shapes, dict):
        return "{" + ", ".join(f"{key!r}: {as_code(value)}" for key, value in shapes.items()) + "}"
    return "None" if shapes is None else "Dim.DYNAMIC"
