"""What code does besides calculating a value: what it changes in place, and which of its calls may do so."""

from collections.abc import Iterator

import libcst as cst

from .source import contains, dotted, names_in

_NEW_VALUES = (cst.BinaryOperation, cst.UnaryOperation, cst.Comparison, cst.BaseNumber)
# Functions and methods that draw random numbers: with another one more, all that follow are others.
_RANDOM = ("rand", "dropout", "bernoulli", "multinomial", "normal", "poisson", "manual_seed", "seed")
# Names under which torch's functions, which change nothing but by their own name, are known.
_TORCH = ("torch", "F", "math")


def changes_in_place(function: cst.FunctionDef) -> bool:
    """Whether it may change, in place, a value that it was given; attributes of `self` may be set anew."""
    for node in nodes(function.body):
        if isinstance(node, cst.AugAssign) and not (
            isinstance(node.target, cst.Name) and is_made_in(function, node.target.value)
        ):
            return True
        if isinstance(node, cst.AssignTarget) and contains(node.target, cst.Subscript):
            return True
        if isinstance(node, cst.Call) and _is_in_place(node):
            return True
    return False


def is_made_in(function: cst.FunctionDef, name: str) -> bool:
    """Whether each value of the name is calculated in the function, and no other name's as well."""
    if any(isinstance(node, cst.Param) and node.name.value == name for node in nodes(function)):
        return False
    values = [
        node.value
        for node in nodes(function.body)
        if isinstance(node, cst.Assign) and any(name in names_in(each.target) for each in node.targets)
    ]
    return bool(values) and all(isinstance(value, _NEW_VALUES) for value in values)


def may_have_effects(node: cst.CSTNode) -> bool:
    """Whether more than a value may come of it: by a call of what is not torch's, or by random numbers.

    Methods of values and modules are taken to calculate; a module in training mode may count, though.
    """
    if contains(node, cst.NamedExpr, cst.Await):
        return True
    return any(isinstance(each, cst.Call) and _has_effects(each) for each in nodes(node))


def _has_effects(call: cst.Call) -> bool:
    name = dotted(call.func)
    last = call.func.attr.value if isinstance(call.func, cst.Attribute) else name or ""
    if _is_in_place(call) or last.startswith(_RANDOM) or last in ("pop", "append", "write"):
        return True
    if isinstance(call.func, cst.Name):
        return last not in ("len", "float", "int", "abs", "max", "min", "sum", "bool")
    return False


def calls_what_is_not_torchs(node: cst.CSTNode, own: set[str]) -> bool:
    """Whether something is called in it that is neither torch's nor a method of one of these names."""
    for each in nodes(node):
        if isinstance(each, cst.Call):
            name = dotted(each.func)
            if name is None and isinstance(each.func, cst.Attribute):
                continue  # a method of what another call, looked at as well, returns
            first = (name or "").partition(".")[0]
            is_method = "." in (name or "") and first in own
            if _has_effects(each) or not (first in _TORCH or is_method):
                return True
    return False


def nodes(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """It, and all that is in it."""
    yield node
    for child in node.children:
        yield from nodes(child)


def _is_in_place(call: cst.Call) -> bool:
    is_out = any(each.keyword is not None and each.keyword.value == "out" for each in call.args)
    if not isinstance(call.func, cst.Attribute):
        return is_out
    name = call.func.attr.value
    return is_out or (name.endswith("_") and not name.endswith("__"))
