"""A compiled frame that runs again in eager when a graph of it raises, so that its handlers see the error.

Dynamo's bytecode calls its graph before it changes anything, so the frame can begin anew. The code of the
cache entry is replaced by one that calls Dynamo's as a function, and the original function where that raises
`RunFrameInEager`.
"""

from collections.abc import Callable
from types import CodeType
from typing import Any

from ..frames.replaced_code import calling_code, function_with_cells
from .replay import not_captured


class RunFrameInEager(BaseException):
    """A graph of a frame asks to run the frame in eager. No Exception: the program must not handle it."""


def with_eager_fallback(original: CodeType, compiled: CodeType, names: dict[str, Any]) -> CodeType | None:
    """The code to run instead of `compiled`, Dynamo's code for a frame of `original` with these globals.

    None if Python cannot make code with the same variables.
    """

    def call(cells: Callable[..., Any] | None, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        try:
            return function_with_cells(compiled, names, original, cells)(*arguments, **named)
        except RunFrameInEager:
            pass
        with not_captured():
            return function_with_cells(original, names, original, cells)(*arguments, **named)

    return calling_code(original, call)
