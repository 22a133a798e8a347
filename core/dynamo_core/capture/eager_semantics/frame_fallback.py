"""A compiled frame that runs again in eager when a graph of it raises, so that its handlers see the error.

Dynamo's bytecode calls its graph before it changes anything, so the frame can begin anew. C++ runs the code
of a cache entry with the arguments and cells of the original frame: torch/csrc/dynamo/eval_frame.c and
cpython_defs.c (dynamo_eval_custom_code), which require the same arguments, free variables and cell variables.
That code is replaced by one that calls Dynamo's as a function, and the original function where that raises
`RunFrameInEager`. Read in 2.8 to 2.15; run with 2.13.
"""

from collections.abc import Callable
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import CodeType, FunctionType
from typing import Any

from .replay import not_captured

# A constant of the generated code; the function that it stands for takes its place.
_PLACEHOLDER = 0x64796E616D6F


class RunFrameInEager(BaseException):
    """A graph of a frame asks to run the frame in eager. No Exception: the program must not handle it."""


def with_eager_fallback(original: CodeType, compiled: CodeType, names: dict[str, Any]) -> CodeType | None:
    """The code to run instead of `compiled`, Dynamo's code for a frame of `original` with these globals.

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
    call = _caller(original, compiled, names)
    constants = tuple(call if constant == _PLACEHOLDER else constant for constant in code.co_consts)
    return code.replace(co_consts=constants, co_name=original.co_name, co_firstlineno=original.co_firstlineno)


def _caller(
    original: CodeType, compiled: CodeType, names: dict[str, Any]
) -> Callable[[Callable[..., Any] | None, tuple[Any, ...], dict[str, Any]], Any]:
    """The function behind the placeholder: it is given a function that holds the cells, and the arguments."""

    def call(cells: Callable[..., Any] | None, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        closure: tuple[Any, ...] = ()
        if cells is not None:
            by_name = dict(zip(cells.__code__.co_freevars, cells.__closure__ or (), strict=True))
            closure = tuple(by_name[name] for name in original.co_freevars)
        try:
            return FunctionType(compiled, names, None, None, closure)(*arguments, **named)
        except RunFrameInEager:
            pass
        with not_captured():
            return FunctionType(original, names, None, None, closure)(*arguments, **named)

    return call


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
