"""The line of the program that the exception came through which ended it."""

import sys
from collections.abc import Callable
from typing import Any

import pytest

from dynamo_core.capture.process_records import uncaught_exception


def function(module: str, file: str, body: str, **names: object) -> Callable[[], Any]:
    """One of this body, on line 2 of a file."""
    scope: dict[str, Any] = {"__name__": module, **names}
    exec(compile(f"def call():\n    {body}\n", file, "exec"), scope)
    called: Callable[[], Any] = scope["call"]
    return called


def ended_by(outermost: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    try:
        outermost()
    except Exception as error:
        assert error.__traceback__ is not None
        error.__traceback__ = error.__traceback__.tb_next  # which is this function's
        monkeypatch.setattr(sys, "last_value", error, raising=False)
        monkeypatch.setattr(sys, "last_exc", error, raising=False)
    return uncaught_exception()


def test_a_line_of_code_that_inductor_wrote_is_none_of_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    generated = function(
        "torch._inductor.runtime.compile_tasks.cabc", "/scratch/cache/ab/cabc.py", "raise ValueError"
    )
    own = function("__main__", "/home/me/train.py", "inner()", inner=generated)
    assert ended_by(own, monkeypatch) == {
        "raised": "ValueError",
        "raised_file": "/home/me/train.py",
        "raised_line": 2,
        "raised_in": "call",
    }


def test_it_is_the_innermost_of_the_programs_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    helper = function("helpers", "/home/me/helpers.py", "raise ValueError")
    own = function("__main__", "/home/me/train.py", "inner()", inner=helper)
    assert ended_by(own, monkeypatch)["raised_file"] == "/home/me/helpers.py"


def test_what_did_not_begin_in_the_program_did_not_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ended_by(function("helpers", "/home/me/helpers.py", "raise ValueError"), monkeypatch) == {}


def test_what_refuses_a_backward_of_compiled_code_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    around = "torch._functorch._aot_autograd.runtime_wrappers"
    refusing = function(around, "/site-packages/torch/runtime_wrappers.py", "raise RuntimeError")
    own = function("__main__", "/home/me/train.py", "inner()", inner=refusing)
    assert ended_by(own, monkeypatch)["refused_by"] == f"{around}.call"


def test_what_a_backward_freed_refuses_a_second_one(monkeypatch: pytest.MonkeyPatch) -> None:
    around = "torch._functorch._aot_autograd.runtime_wrappers"
    freed = "raise RuntimeError('Trying to backward through the graph a second time (or directly access')"
    reading = function(around, "/site-packages/torch/runtime_wrappers.py", freed)
    own = function("__main__", "/home/me/train.py", "inner()", inner=reading)
    assert ended_by(own, monkeypatch)["refused_by"] == f"{around}.saved_tensors"
    written = function("None", "/torch/_functorch/_aot_autograd/codegen.py:codegen(backward)", freed)
    calling = function(around, "/site-packages/torch/runtime_wrappers.py", "inner()", inner=written)
    own = function("__main__", "/home/me/train.py", "inner()", inner=calling)
    assert ended_by(own, monkeypatch)["refused_by"] == f"{around}.saved_tensors"


def test_what_compiled_code_raised_itself_was_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = function("torch._inductor.runtime.compile_tasks.cabc", "/cache/cabc.py", "raise RuntimeError")
    around = "torch._functorch._aot_autograd.runtime_wrappers"
    calling = function(around, "/site-packages/torch/runtime_wrappers.py", "kernel()", kernel=kernel)
    own = function("__main__", "/home/me/train.py", "inner()", inner=calling)
    assert "refused_by" not in ended_by(own, monkeypatch)
