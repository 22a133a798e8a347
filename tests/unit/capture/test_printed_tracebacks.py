"""Our frames in the traceback that Python prints at the end of a program."""

from collections.abc import Callable
from traceback import walk_tb
from typing import Any

from dynamo_core.capture.printed_tracebacks import _leave_us_out


def through(function: Callable[[], Any], module: str) -> Callable[[], Any]:
    """A function of a module of this name that calls another."""
    namespace: dict[str, Any] = {"__name__": module, "function": function}
    exec(f"def {module.rpartition('.')[2]}(): return function()", namespace)
    return namespace[module.rpartition(".")[2]]  # type: ignore[no-any-return]


def raises() -> None:
    try:
        through(failing, "dynamo_core.capture.first")()
    except KeyError as error:
        raise ValueError("the second") from error


def failing() -> None:
    raise KeyError("the first")


def names(error: BaseException | None) -> list[str]:
    return [frame.f_code.co_name for frame, _ in walk_tb(error.__traceback__ if error else None)]


def test_frames_of_ours_are_left_out_and_no_others_also_of_the_cause() -> None:
    inner = through(through(raises, "dynamo_core.capture.wrapper"), "dynamo_core.capture.guarded")
    try:
        through(inner, "torch.library")()
    except ValueError as error:
        here, *before = names(error)
        assert before == ["library", "guarded", "wrapper", "raises"]
        _leave_us_out("import", (None, type(error), error, None))
        assert names(error) == [here, *before]
        _leave_us_out("sys.excepthook", (None, ValueError, error, error.__traceback__))
        assert names(error) == [here, "library", "raises"]
        assert names(error.__cause__) == ["raises", "failing"]


def test_what_is_no_exception_is_left_alone() -> None:
    _leave_us_out("sys.excepthook", (None, None, None, None))
    _leave_us_out("sys.excepthook", ())
