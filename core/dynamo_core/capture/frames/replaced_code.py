"""Code that a cache entry of Dynamo's runs in place of what Dynamo made: it calls a function of ours.

C++ runs the code of an entry with the arguments and cells of the original frame, and requires the same
arguments, free variables and cell variables. Source: eval_frame.c and cpython_defs.c in torch/csrc/dynamo
(dynamo_eval_custom_code), read in 2.8 to 2.15; run with 2.13.
"""

from collections.abc import Callable
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import CodeType, FunctionType
from typing import Any

# A constant of the generated code; the function that it stands for takes its place.
_PLACEHOLDER = 0x64796E616D6F

# Given a function that holds the cells (None if there are none), the arguments, and those that are named.
Call = Callable[[Callable[..., Any] | None, tuple[Any, ...], dict[str, Any]], Any]


def calling_code(original: CodeType, call: Call) -> CodeType | None:
    """Code with the variables of `original` that returns what `call` does.

    None if Python cannot make code with the same variables.
    """
    try:
        module = compile(_source(original), original.co_filename, "exec", dont_inherit=True)
    except SyntaxError:
        return None
    code = _code_named(module, original.co_name if original.co_name.isidentifier() else "frame")
    same = ("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_freevars", "co_cellvars")
    if code is None or any(getattr(code, name) != getattr(original, name) for name in same):
        return None
    constants = tuple(call if constant == _PLACEHOLDER else constant for constant in code.co_consts)
    return code.replace(co_consts=constants, co_name=original.co_name, co_firstlineno=original.co_firstlineno)


def function_with_cells(
    code: CodeType, names: dict[str, Any], original: CodeType, cells: Callable[..., Any] | None
) -> FunctionType:
    """A function of `code` with these globals and the cells that a `Call` for `original` was given."""
    closure: tuple[Any, ...] = ()
    if cells is not None:
        by_name = dict(zip(cells.__code__.co_freevars, cells.__closure__ or (), strict=True))
        closure = tuple(by_name[name] for name in original.co_freevars)
    return FunctionType(code, names, None, None, closure)


def put_in_place(
    guarded_code: Any, code: CodeType, original: CodeType, leave_to_eager: Callable[[CodeType], None]
) -> None:
    """Let a cache entry for frames of `original` run `code`, which calls what the entry ran before."""
    from torch._dynamo.utils import orig_code_map

    leave_to_eager(guarded_code.code)  # C++ asks about it when it is called
    orig_code_map[code] = original  # looked up when the frame recompiles
    guarded_code.code = code


def _source(code: CodeType) -> str:
    """A function with the variables of `code`, that passes its cells and arguments to the placeholder."""
    variables = list(code.co_varnames)
    positional, count = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    keywords = variables[positional:count]
    rest = variables[count:]
    star = f"*{rest.pop(0)}" if code.co_flags & CO_VARARGS else None
    two_stars = f"**{rest.pop(0)}" if code.co_flags & CO_VARKEYWORDS else None
    parameters = variables[:positional]
    if code.co_posonlyargcount:
        parameters.insert(code.co_posonlyargcount, "/")
    parameters += [star or "*"] * bool(star or keywords) + keywords + ([two_stars] if two_stars else [])
    arguments = "".join(f"{name}, " for name in variables[:positional] + ([star] if star else []))
    named = "".join(f"{name!r}: {name}, " for name in keywords) + (two_stars or "")
    free, cells = code.co_freevars, code.co_cellvars
    own = list(dict.fromkeys([*rest, *cells]))
    declared = [name for name in own if name not in variables[: len(variables) - len(rest)]]
    body = [
        *(f"        {name} = None" for name in declared),
        *(f"        lambda: {name}" for name in cells),
    ]
    name = code.co_name if code.co_name.isidentifier() else "frame"
    lines = [
        *(f"    {each} = None" for each in free),
        f"    def {name}({', '.join(parameters)}):",
        *(["      if 0:", *body] if body else []),
        f"      return {_PLACEHOLDER} .__call__("
        + (f"lambda: ({', '.join(free)},)" if free else "None")
        + f", ({arguments}), {{{named}}})",
    ]
    return "def outer():\n" + "\n".join(lines) + "\n"


def _code_named(code: CodeType, name: str) -> CodeType | None:
    """The code of the function `name` in `outer`."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_name == name and code.co_name == "outer":
                return constant
            found = _code_named(constant, name)
            if found is not None:
                return found
    return None
