"""The code that runs a compiled frame, and the frame in eager where a graph of it raises."""

import inspect
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import pytest

from dynamo_core.capture.eager_semantics.frame_fallback import RunFrameInEager, with_eager_fallback

NAMES = {"RunFrameInEager": RunFrameInEager}  # of the functions that are made of text


def positional(a, b=2):  # type: ignore[no-untyped-def]
    return a, b


def every_kind(a, /, b, *rest, c, d=4, **named):  # type: ignore[no-untyped-def]
    e = a
    return a, b, rest, c, d, sorted(named), e


def with_cells(a, *, b):  # type: ignore[no-untyped-def]
    c = a + b

    def inner():  # type: ignore[no-untyped-def]
        return a, c

    return inner()  # type: ignore[no-untyped-call]


def _closures(x: int, y: int) -> Callable[..., Any]:
    def with_free(a):  # type: ignore[no-untyped-def]
        nonlocal x
        x += 1
        b = a

        return (lambda: (x, y, a, b))()

    return with_free


FUNCTIONS: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = [
    (positional, (1,), {"b": 3}),
    (every_kind, (1, 2, 3, 4), {"c": 5, "f": 6}),
    (with_cells, (1,), {"b": 2}),
    (_closures(1, 2), (3,), {}),
    (lambda a: a + 1, (1,), {}),
]


def call(function: Any, code: CodeType, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    copy = FunctionType(code, function.__globals__, "copy", function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy(*arguments, **named)


@pytest.mark.parametrize(("function", "arguments", "named"), FUNCTIONS)
def test_it_has_the_variables_and_the_result_of_the_code_that_was_compiled(
    function: Any, arguments: tuple[Any, ...], named: dict[str, Any]
) -> None:
    original = function.__code__
    compiled = original.replace(co_consts=original.co_consts)
    code = with_eager_fallback(original, compiled, function.__globals__)
    assert code is not None
    for name in (
        "co_argcount",
        "co_posonlyargcount",
        "co_kwonlyargcount",
        "co_cellvars",
        "co_freevars",
        "co_name",
    ):
        assert getattr(code, name) == getattr(original, name)
    assert code.co_flags & inspect.CO_VARARGS == original.co_flags & inspect.CO_VARARGS
    assert set(code.co_varnames) >= set(original.co_varnames)
    result = call(function, code, arguments, named)
    expected = function(*arguments, **named)
    # The variable of the enclosing function is changed by both calls.
    assert result == ((expected[0] - 1, *expected[1:]) if function.__name__ == "with_free" else expected)


@pytest.mark.parametrize(("function", "arguments", "named"), FUNCTIONS)
def test_the_original_runs_where_a_graph_asks_for_it(
    function: Any, arguments: tuple[Any, ...], named: dict[str, Any]
) -> None:
    parameters = inspect.signature(function).parameters
    code = with_eager_fallback(
        function.__code__, _raising(function.__code__, parameters), function.__globals__ | NAMES
    )
    assert code is not None
    assert call(function, code, arguments, named) is not None


def _raising(original: CodeType, parameters: Any) -> CodeType:
    """The code of a function with the same parameters and cells, that raises RunFrameInEager."""
    free = "".join(f" {name} = 0;" for name in original.co_freevars)
    uses = "".join(f"\n  {name}" for name in original.co_freevars)
    text = f"def outer():\n {free.strip() or 'pass'}\n def f{inspect.Signature(parameters.values())}:{uses}"
    text += "\n  raise RunFrameInEager"
    outer = compile(text, "<test>", "exec").co_consts[0]
    return next(each for each in outer.co_consts if isinstance(each, CodeType))


def test_another_error_is_not_answered() -> None:
    def fails(a: int) -> Any:
        raise KeyError(a)

    code = with_eager_fallback(positional.__code__, fails.__code__, globals())
    assert code is not None
    with pytest.raises(TypeError):
        call(positional, code, (1,), {})
    code = with_eager_fallback(fails.__code__, fails.__code__, globals())
    assert code is not None
    with pytest.raises(KeyError):
        call(fails, code, (1,), {})
