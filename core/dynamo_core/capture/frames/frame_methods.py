"""Which method of a module a frame is of, where its own name says less: `forward`, `wrapper`, `inner`."""

import os
import sys
from collections.abc import Iterator
from inspect import CO_VARARGS
from types import CodeType, FunctionType
from typing import Any

_WRAP_INLINE = os.path.join("torch", "_dynamo", "external_utils.py")
_MOST_WRAPPERS = 8


def method_of(frame: Any) -> str | None:
    """`GPT2Model.forward` for the frame of that, or of a wrapper around it; None where it is no module's.

    Source: torch/_dynamo/external_utils.py (wrap_inline), 2.8 to 2.15: torch's own wrapper around modules of
    torch's, whose frame has the module as its free variable `fn`.
    """
    code: CodeType = frame.f_code
    names, values = code.co_varnames, frame.f_locals
    if is_wrapper_of_modules(code):
        kind = type(values.get("fn"))
        return f"{kind.__qualname__}.forward" if issubclass(kind, sys.modules["torch"].nn.Module) else None
    if code.co_argcount:
        owner = values.get(names[0])
    elif code.co_flags & CO_VARARGS:
        owner = next(iter(values.get(names[code.co_kwonlyargcount], ())), None)
    else:
        return None
    kind = type(owner)
    if not issubclass(kind, sys.modules["torch"].nn.Module):  # isinstance might ask code of the program's
        return None
    found = [
        name
        for base in kind.__mro__
        for name, value in vars(base).items()
        if any(function.__code__ is code for function in _with_wrapped(value))
    ]
    if not found:
        return None
    # Wrappers that one decorator made share their code: then only the class is known.
    return f"{kind.__qualname__}.{found[0]}" if len(set(found)) == 1 else kind.__qualname__


def is_wrapper_of_modules(code: CodeType) -> bool:
    """Whether it is torch's own, through which all modules of torch's are compiled."""
    return code.co_name == "inner" and code.co_filename.endswith(_WRAP_INLINE)


def _with_wrapped(value: Any) -> Iterator[FunctionType]:
    """A function and those that it wraps (functools.wraps)."""
    for _ in range(_MOST_WRAPPERS):
        if isinstance(value, FunctionType):
            yield value
            value = value.__dict__.get("__wrapped__")
