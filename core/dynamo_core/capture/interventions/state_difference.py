"""In what two observations of a call differ: that of the compiled program, and that of plain Python."""

import ast
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...backends.agreement import Comparison, compare
from ...shared.names import GRADIENT
from ..errors import first_line
from .observed_state import (
    KIND,
    LEFT_OUT,
    RAISED,
    RAISED_CLASSES,
    RANDOM_NUMBERS,
    RESULT,
    SAME,
    TENSOR,
    VALUE,
    Leaf,
    Leaves,
)
from .printed_text import NOT_NOTED, PRINTED, PRINTED_AT, is_printed_alike

_NUMBER = re.compile(r"-?(?:\d+\.\d*|\d*\.\d+|\d+)(?:e[-+]?\d+)?|-?inf|nan")
# How far apart Python's own floats may be: they come from tensors.
_CLOSE = 1e-4
# A dtype of less than 32 bits anywhere in the call: so many times its rounding error is what all may be off.
_ROUNDINGS = 16.0
_ERROR_OF_ONE = {"bfloat16": 2.0**-8, "float16": 2.0**-11}
_ERROR_OF_OTHERS = 2.0**-3  # float8

OUTPUT = "output"  # the kind of a difference in what is printed
# What stands last where several things differ: the others say more.
MINOR = ("aliasing", "stride", OUTPUT)
_ORDER = ("value", "structure", "dtype", "mutation", "gradient", "random", *MINOR)
_TENSOR_FIELDS = ("dtype", "shape", "stride", "device", "requires_grad", "memory", "is_inference")


class Difference(NamedTuple):
    """One difference. `kind` is value, structure, dtype, stride, mutation, exception, gradient, random, or
    output, which is what was printed.
    """

    kind: str
    path: str
    detail: str
    error: float | None = None
    allowed: float | None = None


class Compared(NamedTuple):
    """The differences, how many values were compared, which were not (None if all were), and the largest
    difference of those that rounding to a short dtype explains (None if there is none).
    """

    differences: list[Difference]
    values: int
    left_out: str | None
    rounding: Difference | None = None


def needs_untouched_values(compiled: Leaves, eager: Leaves) -> bool:
    """Whether a parameter was written by one of the two only: then its values are to be compared, too."""
    return any(
        leaf[0] == TENSOR and path in eager and isinstance(leaf[-1], str) != isinstance(eager[path][-1], str)
        for path, leaf in compiled.items()
    )


def compare_leaves(compiled: Leaves, eager: Leaves, again: Callable[[int], Leaves] | None = None) -> Compared:
    """Compare what a compiled call left with what the same call leaves in eager.

    `again(seed)` gives the leaves of eager once more, with other rounding errors.
    """
    found: list[Difference] = []
    names: list[str] = []
    if RAISED in compiled or RAISED in eager:
        difference = _exceptions(compiled, eager)
        if difference is not None:
            return Compared([difference], 1, None)
    is_printed = all(leaves.get(PRINTED, [KIND])[0] == KIND for leaves in (compiled, eager))
    for path in [*compiled, *(path for path in eager if path not in compiled)]:
        if not _is_compared(path) or (not is_printed and path.startswith(PRINTED)):
            continue
        own, eagers = compiled.get(path), eager.get(path)
        if own is None or eagers is None:
            if RAISED not in compiled and not _inside(path, found):
                found.append(_missing(path, own, eagers))
            continue
        if own[0] == SAME and _is_same_memory(path, own[1], eager):
            continue
        difference = _in_kind(path, own, eagers)
        if difference is not None:
            found.append(difference)
        elif own[0] == TENSOR and not (own[-1] is None or eagers[-1] is None or isinstance(own[-1], str)):
            names.append(path)
    comparisons, short = _compare_tensors(names, compiled, eager, again)
    rounding = None
    for each in comparisons:
        if each.agrees:
            continue
        difference = Difference(_kind_of(each.name), each.name, each.detail or "", each.error, each.allowed)
        if _is_rounding(each, short):
            rounding = rounding or difference
        else:
            found.append(difference)
    found.sort(key=lambda each: _ORDER.index(each.kind) if each.kind in _ORDER else 0)
    values = len(names) + sum(leaf[0] == VALUE for path, leaf in eager.items() if _is_compared(path))
    left_out = [leaves[LEFT_OUT][1] for leaves in (eager, compiled) if LEFT_OUT in leaves][:1]
    left_out += [] if is_printed else [NOT_NOTED]
    return Compared(found, values, "; ".join(left_out) or None, rounding)


def _is_same_memory(path: str, first: str, eager: Leaves) -> bool:
    """Whether two results of eager are the same memory in the same form, as `x` and `x.detach()` without
    gradients: compiled code may return one object for both.
    """
    import torch

    leaf, other = eager[path], eager.get(first)
    if not path.startswith(RESULT) or other is None or leaf[0] != TENSOR or other[0] != TENSOR:
        return False
    memory = _TENSOR_FIELDS.index("memory") + 1
    values, others = leaf[-1], other[-1]
    return (
        leaf[memory] is not None
        and leaf[memory] in (first, other[memory])
        and [*leaf[:memory], *leaf[memory + 1 : -1]] == [*other[:memory], *other[memory + 1 : -1]]
        and isinstance(values, torch.Tensor)
        and isinstance(others, torch.Tensor)
        and torch.equal(values, others)
    )


def _is_compared(path: str) -> bool:
    """Whether what is at a path is compared: exceptions are by their class, their text may be another one."""
    return path != LEFT_OUT and not path.startswith((RAISED, PRINTED_AT))


def largest_of_unequal(compiled: Leaves, eager: Leaves) -> Difference | None:
    """The largest difference between tensors of equal dtypes and shapes that have other values; None without.

    Numbers that are not finite are left out.
    """
    import torch

    found = []
    for path, leaf in eager.items():
        own, eagers = compiled.get(path, [None])[-1], leaf[-1]
        if (
            isinstance(own, torch.Tensor)
            and isinstance(eagers, torch.Tensor)
            and not torch.equal(own, eagers)
        ):
            wide = torch.complex128 if own.is_complex() else torch.float64
            error = float((own.to(wide) - eagers.to(wide)).abs().nan_to_num(0.0, 0.0).max())
            found += [Difference(_kind_of(path), path, "", error, 0.0)] if error else []
    return max(found, key=lambda each: each.error or 0.0, default=None)


def _compare_tensors(
    names: Sequence[str], compiled: Leaves, eager: Leaves, again: Callable[[int], Leaves] | None
) -> tuple[list[Comparison], set[str]]:
    short: set[str] = set()

    def values_again(seed: int) -> list[Any]:
        assert again is not None
        leaves = again(seed)
        short.update(re.findall(r"\w+", leaves.get("short", [VALUE, ""])[1]))
        values = [leaves.get(name, [None])[-1] for name in names]
        return [None if isinstance(value, str) else value for value in values]

    comparisons = compare(
        names,
        [compiled[name][-1] for name in names],
        [eager[name][-1] for name in names],
        None,
        None if again is None else values_again,
    )
    return comparisons, short


def _is_rounding(comparison: Comparison, short: set[str]) -> bool:
    """Whether a difference is no larger than rounding to a short dtype, which the call uses, makes it."""
    if comparison.error is None or not short:
        return False
    of_one = max(_ERROR_OF_ONE.get(name, _ERROR_OF_OTHERS) for name in short)
    return comparison.error <= _ROUNDINGS * of_one * max(comparison.size or 0.0, 1e-2)


def _exceptions(compiled: Leaves, eager: Leaves) -> Difference | None:
    own, eagers = (leaves[RAISED][1] if RAISED in leaves else None for leaves in (compiled, eager))
    if own is None:
        return Difference("exception", RAISED, f"returned, where eager raises {_first_line(eagers)}")
    if eagers is None:
        return Difference("exception", RAISED, f"raised {_first_line(own)}, where eager returns")
    if next(iter(_classes(eager)), "") not in _classes(compiled):
        detail = f"raised {_first_line(own)}, where eager raises {_first_line(eagers)}"
        return Difference("exception", RAISED, detail)
    return None


def _classes(leaves: Leaves) -> list[str]:
    """The names of the classes of the exception that was raised, its own first."""
    return [leaf[1] for path, leaf in leaves.items() if path.startswith(f"{RAISED_CLASSES}[")]


def _first_line(text: Any) -> str:
    """The first line of an exception's text, which a leaf has as Python writes it, and may have cut."""
    try:
        text = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        text = text.strip("'\"").replace("\\n", "\n")
    return first_line(str(text))[:200]


def _inside(path: str, found: list[Difference]) -> bool:
    """Whether a path is in something that is different already as a whole, or is its gradient."""
    path = path.removeprefix(GRADIENT)
    return any(path == each.path or path.startswith((f"{each.path}[", f"{each.path}.")) for each in found)


def _missing(path: str, own: Leaf | None, eagers: Leaf | None) -> Difference:
    detail = f"it is {_text(own)}" if eagers is None else f"missing, where eager has {_text(eagers)}"
    if eagers is None:
        detail += ", where eager has none"
    return Difference(_kind_of(path, "structure"), path, detail)


def _in_kind(path: str, own: Leaf, eagers: Leaf) -> Difference | None:
    if own[0] != eagers[0]:
        return Difference(_kind_of(path, "structure"), path, f"{_text(own)}, where eager has {_text(eagers)}")
    if own[0] == TENSOR:
        return _in_tensor(path, own, eagers)
    is_close = is_printed_alike if path.startswith(PRINTED) else _is_close
    if own[1] == eagers[1] or (own[0] == VALUE and is_close(own[1], eagers[1])):
        return None
    kind = "structure" if own[0] in (KIND, SAME) else None
    return Difference(_kind_of(path, kind), path, f"{_text(own)}, where eager has {_text(eagers)}")


def _in_tensor(path: str, own: Leaf, eagers: Leaf) -> Difference | None:
    is_result = path.startswith(RESULT)
    for position, name in enumerate(_TENSOR_FIELDS, 1):
        if own[position] == eagers[position] or (name in ("stride", "memory") and not is_result):
            continue
        if name == "memory" and RESULT in f"{own[position]}{eagers[position]}":
            continue  # which outputs share memory with one another
        kind = name if name in ("dtype", "stride") else "aliasing" if name == "memory" else "structure"
        detail = f"{name} {_plain(own[position])}, where eager has {_plain(eagers[position])}"
        return Difference(_kind_of(path, kind), path, detail)
    return None


def _plain(value: Any) -> str:
    return "its own" if value is None else str(value).removeprefix("torch.")


def _kind_of(path: str, kind: str | None = None) -> str:
    """What kind of difference one at this path is."""
    if path.startswith(RANDOM_NUMBERS):
        return "random"
    if path.startswith(PRINTED):
        return OUTPUT
    if path.startswith(GRADIENT):
        return "gradient"
    return (kind or "value") if path.startswith(RESULT) else "mutation"


def _text(leaf: Leaf | None) -> str:
    if leaf is None:
        return "nothing"
    if leaf[0] == TENSOR:
        return f"a tensor of {_plain(leaf[1])} {leaf[2]}"
    if leaf[0] == SAME:
        return f"the same object as {leaf[1]}"
    if leaf[0] == KIND:
        return f"a {leaf[1].removeprefix('builtins.')}"
    return str(leaf[1])[:100]


def _is_close(own: str, eagers: str) -> bool:
    """Whether two numbers of Python's are equal but for rounding; integers and texts must be equal."""
    if not (_NUMBER.fullmatch(own) and _NUMBER.fullmatch(eagers)) or own.lstrip("-").isdigit():
        return False
    first, second = float(own), float(eagers)
    return first == second or abs(first - second) <= _CLOSE * max(abs(first), abs(second))
