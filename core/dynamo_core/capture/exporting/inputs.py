"""The arguments of a module's call: a name for each tensor and each other value in them, and their sizes.

Source: torch/export/dynamic_shapes.py (_combine_args, _tree_map_with_path), which looks at containers in the
same way; 2.13. Dataclasses that torch does not know yet count as containers, too.
"""

import dataclasses
import inspect
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

_LONGEST_VALUE = 60  # characters
Sizes = tuple[int, ...]


class Inputs(NamedTuple):
    """What one call was given, by names as they would be written: `x`, `batch.mask`, `states[0]`.

    `form` is what calls of one exported program have in common: which values there are, of which types.
    """

    sizes: Mapping[str, Sizes]
    dtypes: Mapping[str, str]
    constants: Mapping[str, str]
    form: tuple[tuple[str, str], ...]


def bound(module: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments by the names that `forward` gives them; TypeError where they do not fit."""
    return dict(inspect.signature(module.forward).bind(*args, **kwargs).arguments)


def written_arguments(module: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """The arguments as torch.export takes them, as code: `(x,), {'mask': mask}`."""
    positional: list[str] = []
    for parameter in inspect.signature(module.forward).parameters.values():
        has_more = len(positional) < len(args)
        if parameter.kind is parameter.VAR_POSITIONAL and has_more:
            positional.append(f"*{parameter.name}")
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD) and has_more:
            positional.append(parameter.name)
    named = ", ".join(f"{name!r}: {name}" for name in kwargs)
    by_position = f"({', '.join(positional)}{',' if len(positional) == 1 else ''})"
    return f"{by_position}, {{{named}}}" if named else by_position


def inputs_of(arguments: Mapping[str, Any]) -> Inputs:
    """What these arguments are."""
    import torch

    sizes: dict[str, Sizes] = {}
    dtypes: dict[str, str] = {}
    constants: dict[str, str] = {}
    form = []
    for name, value in leaves(arguments):
        if isinstance(value, torch.Tensor):
            sizes[name] = tuple(map(int, value.shape))
            dtypes[name] = str(value.dtype).removeprefix("torch.")
            form.append((name, f"{dtypes[name]} of {value.dim()}"))
        else:
            if value is not None:
                constants[name] = _shown(value)
            form.append((name, type(value).__qualname__))
    return Inputs(sizes, dtypes, constants, tuple(form))


def leaves(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each value that is no container, with its name."""
    for name, value in arguments.items():
        yield from _leaves(value, name)


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    inside = parts(value)
    if inside is None:
        yield name, value
        return
    for suffix, part in inside:
        yield from _leaves(part, f"{name}{suffix}")


def parts(value: Any) -> list[tuple[str, Any]] | None:
    """What a container holds, each with what follows the container's name; None for what is none."""
    from torch.utils._pytree import SUPPORTED_NODES

    if is_named_tuple(value):
        return [(f".{field}", getattr(value, field)) for field in value._fields]
    if type(value) in (tuple, list):
        return [(f"[{index}]", part) for index, part in enumerate(value)]
    if type(value) is dict:
        return [(f"[{key!r}]", part) for key, part in value.items()]
    fields = _fields(value)
    node = SUPPORTED_NODES.get(type(value))
    if node is None:
        return fields
    children = node.flatten_fn(value)[0]
    if fields is not None and [id(part) for _, part in fields] == list(map(id, children)):
        return fields
    return [(f"[{index}]", part) for index, part in enumerate(children)]


def _fields(value: Any) -> list[tuple[str, Any]] | None:
    """The fields of a dataclass that are not None, as torch.export.register_dataclass takes it apart."""
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return None
    named = [(f".{field.name}", getattr(value, field.name)) for field in dataclasses.fields(value)]
    return [(name, part) for name, part in named if part is not None]


def is_named_tuple(value: Any) -> bool:
    """Whether it is one of `collections.namedtuple` or `typing.NamedTuple`."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def unregistered_dataclasses(value: Any) -> list[type]:
    """The types in it that torch.export takes once `torch.export.register_dataclass` was called."""
    from torch.utils._pytree import SUPPORTED_NODES

    is_unknown = type(value) not in SUPPORTED_NODES and _fields(value) is not None
    found = [type(value)] if is_unknown else []
    for _, part in parts(value) or ():
        found += unregistered_dataclasses(part)
    return list(dict.fromkeys(found))


def _shown(value: Any) -> str:
    """A constant as Python writes it; of what is no plain value, its type."""
    text = repr(value) if isinstance(value, bool | int | float | str) else f"a {type(value).__qualname__}"
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "…"


# Which sizes must be dynamic, from those of all calls, as torch.export takes it and as it is typed.


# The dimensions of a tensor by its name; of a whole number none.
Varied = Mapping[str, tuple[int, ...]]


def varied_dimensions(
    seen: Mapping[str, Iterable[Sizes]], constants: Mapping[str, Collection[str]]
) -> dict[str, tuple[int, ...]]:
    """The dimensions whose size was not the same in all calls, and the whole numbers that were not."""
    found: dict[str, tuple[int, ...]] = {
        name: ()
        for name, values in constants.items()
        if len(values) > 1 and all(value.removeprefix("-").isdigit() for value in values)
    }
    for name, sizes in seen.items():
        columns = zip(*sizes, strict=True)
        dimensions = tuple(index for index, column in enumerate(columns) if len(set(column)) > 1)
        if dimensions:
            found[name] = dimensions
    return found


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
    """The shapes as Python code, after `from torch.export import Dim`."""
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
