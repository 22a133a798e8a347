"""The hooks of one function of torch: their order, and what a hook that fails does to the program."""

import sys
from typing import Any

import pytest

from dynamo_core.capture.torch_hooks import ORDER, Hook, add_hook

OUTER, MIDDLE, INNER = ORDER[0], ORDER[3], ORDER[-1]


class Compiler:
    """In place of a class of torch's."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def compile(self, graph: str) -> str:
        """Compile a graph."""
        self.calls.append(graph)
        if graph == "bad":
            raise LookupError("a compiler's own error")
        return f"compiled {graph}"


class Hooks:
    """Hooks around a compiler, with what they noted and which of them failed."""

    def __init__(self) -> None:
        self.kind = type("Compiler", (Compiler,), {"compile": Compiler.compile})
        self.noted: list[str] = []
        self.failures: list[tuple[str, str]] = []

    def add(self, name: str, hook: Hook, *raises: type[Exception]) -> None:
        add_hook(self.kind, "compile", name, hook, self._failed, raises)

    def add_noting(self, name: str) -> None:
        def hook(proceed: Hook, compiler: Any, graph: str) -> Any:
            self.noted.append(f"before {name}")
            result = proceed(compiler, graph)
            self.noted.append(f"after {name}")
            return result

        self.add(name, hook)

    def _failed(self, name: str, error: BaseException) -> None:
        self.failures.append((name, str(error)))


def test_hooks_are_called_in_the_declared_order_however_they_are_added() -> None:
    hooks = Hooks()
    for name in (MIDDLE, INNER, OUTER):
        hooks.add_noting(name)
    assert hooks.kind().compile("f") == "compiled f"
    before = [f"before {name}" for name in (OUTER, MIDDLE, INNER)]
    assert hooks.noted == [*before, *(f"after {name}" for name in (INNER, MIDDLE, OUTER))]


def test_a_hook_gives_another_result_or_does_without_the_call() -> None:
    hooks = Hooks()
    hooks.add(OUTER, lambda proceed, compiler, graph: proceed(compiler, graph) + ", marked")
    compiler = hooks.kind()
    assert compiler.compile("f") == "compiled f, marked"
    hooks.add(MIDDLE, lambda proceed, compiler, graph: "eager")
    assert compiler.compile("g") == "eager, marked"
    assert compiler.calls == ["f"]


def test_a_hooked_function_keeps_its_name_and_docstring() -> None:
    hooks = Hooks()
    hooks.add_noting(OUTER)
    hooked = vars(hooks.kind)["compile"]
    assert hooked.__qualname__ == "Compiler.compile"
    assert hooked.__doc__ == Compiler.compile.__doc__ == "Compile a graph."


def test_a_hook_that_fails_before_the_call_is_left_out() -> None:
    def fails(proceed: Hook, compiler: Any, graph: str) -> Any:
        raise KeyError("no such note")

    hooks = Hooks()
    hooks.add(MIDDLE, fails)
    hooks.add_noting(INNER)
    compiler = hooks.kind()
    assert compiler.compile("f") == "compiled f"
    assert compiler.calls == ["f"]
    assert hooks.noted == [f"before {INNER}", f"after {INNER}"]
    assert hooks.failures == [(MIDDLE, "'no such note'")]


def test_a_hook_that_fails_after_the_call_changes_no_result_and_calls_nothing_twice() -> None:
    def fails(proceed: Hook, compiler: Any, graph: str) -> Any:
        proceed(compiler, graph)
        raise KeyError("no such note")

    hooks = Hooks()
    hooks.add(MIDDLE, fails)
    compiler = hooks.kind()
    assert compiler.compile("f") == "compiled f"
    assert compiler.calls == ["f"]
    assert hooks.failures == [(MIDDLE, "'no such note'")]


def test_an_error_of_torchs_reaches_the_program_through_all_hooks() -> None:
    def fails_at_an_error(proceed: Hook, compiler: Any, graph: str) -> Any:
        try:
            return proceed(compiler, graph)
        except LookupError:
            raise ValueError("while it was noted") from None

    hooks = Hooks()
    hooks.add_noting(OUTER)
    hooks.add(MIDDLE, fails_at_an_error)
    compiler = hooks.kind()
    with pytest.raises(LookupError, match="a compiler's own error"):
        compiler.compile("bad")
    assert compiler.calls == ["bad"]
    assert hooks.failures == [(MIDDLE, "while it was noted")]


def test_what_a_hook_is_to_raise_reaches_the_program() -> None:
    class Refused(RuntimeError):
        pass

    def refuses(proceed: Hook, compiler: Any, graph: str) -> Any:
        raise Refused(graph)

    hooks = Hooks()
    hooks.add(MIDDLE, refuses, Refused)
    hooks.add_noting(OUTER)
    with pytest.raises(Refused):
        hooks.kind().compile("f")
    assert not hooks.failures


def test_the_frames_that_hooks_add_are_counted_where_torch_counts_them() -> None:
    class Converter:
        def convert(self, skip: int = 0) -> str:
            return sys._getframe(1 + skip).f_code.co_name

    def passes_on(proceed: Hook, *args: Any, **named: Any) -> Any:
        return proceed(*args, **named)

    def caller() -> str:
        return Converter().convert()

    for name in (OUTER, INNER):
        add_hook(Converter, "convert", name, passes_on, lambda name, error: None, ())
        assert caller() == "caller"


def test_of_several_hooks_each_has_a_place_in_the_order() -> None:
    hooks = Hooks()
    hooks.add_noting("a new hook")
    with pytest.raises(ValueError, match="not in"):
        hooks.add_noting(INNER)
    assert hooks.kind().compile("f") == "compiled f"
    assert hooks.noted == ["before a new hook", "after a new hook"]
