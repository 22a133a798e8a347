"""Guard our code inside torch's calls: an error in it is recorded, and never reaches the program."""

import functools
from collections.abc import Callable
from typing import Any

from ..shared.early_records import ProbeFailed
from .errors import text_of
from .torch_hooks import Hook, add_hook
from .writing.stream import Stream


class ProbeGuard:
    """Guards the calls of our code that torch makes, and records each probe that fails."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self._failed: set[str] = set()

    def failed(self, probe: str, error: BaseException) -> None:
        """Record, once a probe, that it failed, and why."""
        if probe in self._failed:
            return
        self._failed.add(probe)
        try:
            where = _innermost_line(error)
            self.stream.record(ProbeFailed(probe=probe, error=text_of(error), at=where))
        except Exception:
            self.stream.counters.note_lost_record(0)

    def hook(self, owner: Any, function: str, probe: str, hook: Hook, *raises: type[Exception]) -> None:
        """Put a hook around a function of a class of torch's; `raises` are the errors that it is to raise."""
        add_hook(owner, function, probe, hook, self.failed, raises)

    def guarded(self, probe: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """A decorator for functions of ours that torch calls: an exception is recorded, and None returned."""

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(function)
            def guarded(*args: Any, **kwargs: Any) -> Any:
                try:
                    return function(*args, **kwargs)
                except Exception as error:
                    self.failed(probe, error)
                    return None

            return guarded

        return decorate


def _innermost_line(error: BaseException) -> str | None:
    traceback = error.__traceback__
    if traceback is None:
        return None
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return f"{traceback.tb_frame.f_code.co_filename}:{traceback.tb_lineno}"
