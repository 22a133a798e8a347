"""Checks whether a value from a recording matches the annotation of its field.

A large recording has millions of values, so each annotation is translated to a Python expression and compiled
once. That takes a quarter of the time of functions that call one another.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

_LARGEST_NUMBER = 2**63

Check = Callable[[Any], bool]


def if_recorded(number: float | None) -> float | None:
    """A number, or None where it is larger than those that are read from a recording."""
    return number if number is not None and abs(number) < _LARGEST_NUMBER else None


def matches(value: Any, hint: Any) -> bool:
    """Whether `value` matches the annotation `hint`, in every field and item.

    Numbers that torch would not write, and that cannot be computed with (NaN, 10**400), match no annotation;
    True and False are no numbers.
    """
    return check_of(hint)(value)


@cache
def check_of(hint: Any) -> Check:
    """`matches` for one type, as a function for many values."""
    names: dict[str, Any] = {"fields_match": _fields_match}
    return _function(_expression(hint, "value", names), names)


def check_of_values(hints: Mapping[str, Any], required: Collection[str]) -> Check:
    """A check of a dictionary's values by their keys; keys that are not `required` may be missing."""
    names: dict[str, Any] = {"fields_match": _fields_match}
    checks = [
        (
            _expression(hint, f"value[{name!r}]", names),
            "" if name in required else f"{name!r} not in value or ",
        )
        for name, hint in hints.items()
    ]
    return _function(" and ".join(f"({absent}{matches})" for matches, absent in checks) or "True", names)


@cache
def _check_of_fields(kind: Any) -> Check:
    names: dict[str, Any] = {"fields_match": _fields_match}
    hints = {name: hint for name, hint in get_type_hints(kind).items() if get_origin(hint) is not ClassVar}
    fields = [_expression(hint, f"value.{name}", names) for name, hint in hints.items()]
    return _function(" and ".join(fields) or "True", names)


def _fields_match(value: Any, kind: Any) -> bool:
    """The check of a value's fields, made when it is first needed: a class may refer to itself."""
    return _check_of_fields(kind)(value)


def _function(expression: str, names: dict[str, Any]) -> Check:
    """A function of an expression made of our own annotations: nothing of a recording is in it."""
    function: Check = eval(f"lambda value: {expression}", names)
    return function


def _expression(hint: Any, value: str, names: dict[str, Any]) -> str:
    """An expression that is true where `value`, an expression, matches `hint`; adds its names to `names`."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        choices = sorted(arguments, key=lambda choice: choice is not NoneType)  # the cheapest check first
        return f"({' or '.join(_expression(choice, value, names) for choice in choices)})"
    if origin is tuple and arguments[-1] is not Ellipsis:
        items = [_expression(item, f"{value}[{i}]", names) for i, item in enumerate(arguments)]
        return f"(isinstance({value}, tuple) and len({value}) == {len(items)} and {' and '.join(items)})"
    if origin in (tuple, list):
        item = _expression(arguments[0], "item", names)
        return f"(isinstance({value}, {origin.__name__}) and all([{item} for item in {value}]))"
    if origin in (dict, Mapping):
        key, item = _expression(arguments[0], "key", names), _expression(arguments[1], "item", names)
        return f"(isinstance({value}, dict) and all([{key} and {item} for key, item in {value}.items()]))"
    if origin is Literal:
        return f"(isinstance({value}, str) and {value} in {arguments})"
    if hint is NoneType:
        return f"{value} is None"
    if hint is Any:
        return "True"
    if hint is int:
        return f"(type({value}) is int and abs({value}) <= {_LARGEST_NUMBER})"
    if hint is float:
        return f"(type({value}) in (int, float) and abs({value}) <= {_LARGEST_NUMBER})"
    kind = f"kind_{len(names)}"
    names[kind] = hint
    if is_dataclass(hint) or hasattr(hint, "_fields"):
        return f"(isinstance({value}, {kind}) and fields_match({value}, {kind}))"
    return f"isinstance({value}, {kind})"
