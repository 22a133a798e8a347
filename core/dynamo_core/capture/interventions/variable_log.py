"""The lines of a call, each with the variables that it has changed: in eager, and as Dynamo traced it.

What went wrong while tracing shows here even where no operation of a tensor has a part in it.

Source: torch/_dynamo/symbolic_convert.py (InstructionTranslatorBase.starts_line), read in 2.13.
"""

import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from typing import Any

from ..frames.program_files import is_own

_MOST_STEPS = 20_000
_PLAIN = (bool, int, float, str, type(None))
_CONTAINERS = (list, tuple, dict, set, deque)
# A line that begins: file, line and function, the line before it there, what that one has changed, and the
# line at which the function begins.
Step = list[Any]
Place = tuple[str, int, str]


class VariableLog:
    """The steps of one call."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._frames: dict[int, tuple[Any, int, dict[str, str]]] = {}  # by id, with what keeps that
        self._root: tuple[Any, int] = (None, 0)  # the code that Dynamo traces, and at which step it began

    @contextmanager
    def of_eager(self) -> Iterator[None]:
        """Note the lines that Python runs."""

        def trace(frame: Any, event: str, _: Any) -> Any:
            if not _is_written(frame.f_code):
                return None
            if event == "line":
                self._begin(frame, frame.f_code, frame.f_lineno, _described(frame.f_locals, _of_value))
            return trace

        sys.settrace(trace)
        try:
            yield
        finally:
            sys.settrace(None)

    @contextmanager
    def of_tracing(self) -> Iterator[None]:
        """Note the lines that Dynamo traces."""
        from torch._dynamo import symbolic_convert

        translator: Any = symbolic_convert.InstructionTranslatorBase
        starts_line = translator.starts_line

        def note(tracing: Any, line: int) -> None:
            if line != tracing.lineno and _is_written(tracing.f_code):
                is_root = isinstance(tracing, symbolic_convert.InstructionTranslator)
                if is_root and id(tracing) not in self._frames:
                    self._begin_root(tracing.f_code)
                variables = _described(tracing.symbolic_locals, _of_tracker)
                self._begin(tracing, tracing.f_code, line, variables)
            starts_line(tracing, line)

        translator.starts_line = note
        try:
            yield
        finally:
            translator.starts_line = starts_line

    def _begin_root(self, code: Any) -> None:
        """Dynamo begins a frame; where it does so anew, what it had noted of it goes."""
        root, began = self._root
        if root is code:
            del self.steps[began:]
        self._root = code, len(self.steps)

    def _begin(self, frame: Any, code: Any, line: int, variables: dict[str, str]) -> None:
        _, before, known = self._frames.get(id(frame), (frame, 0, {}))
        self._frames[id(frame)] = frame, line, variables
        changed = {name: text for name, text in variables.items() if known.get(name) != text}
        is_new = line not in (before, code.co_firstlineno) or bool(before and changed)
        if is_new and len(self.steps) < _MOST_STEPS:
            first = code.co_firstlineno
            self.steps.append([code.co_filename, line, code.co_name, before, changed, first])


def first_different_step(eager: Sequence[Step], traced: Sequence[Step]) -> Place | None:
    """The line that gave a variable another value than in eager, or after which another line came.

    None where one side alone runs a function: Dynamo does not trace all of them.
    """
    for at, (own, other) in enumerate(zip(eager, traced, strict=False)):
        if own[:2] != other[:2]:
            if own[3] and own[3] == other[3] and own[0] == other[0]:
                return own[0], own[3], ""
            is_call = at and own[3] == 0 and other[3] in (0, other[5])
            return (*eager[at - 1][:2], "") if is_call else None
        if any(other[4].get(name, text) != text for name, text in own[4].items()):
            return (own[0], own[3], "") if own[3] else None
    return None


def _is_written(code: Any) -> bool:
    """Whether code stands in a file of the program's; that of a dataclass does not."""
    return is_own(code.co_filename) and not code.co_filename.startswith("<")


def _described(variables: Mapping[str, Any], describe: Any) -> dict[str, str]:
    """What is known of variables; those of which nothing is are left out."""
    texts = ((name, describe(value)) for name, value in [*variables.items()])
    return {name: text for name, text in texts if text is not None}


def _of_value(value: Any) -> str | None:
    if type(value) in _PLAIN:
        return repr(value)
    return _of_type(type(value), value)


def _of_tracker(tracker: Any) -> str | None:
    """What Dynamo knows of a variable; None if it has not looked at it, or does not know it itself."""
    from torch._dynamo.variables import ConstantVariable, LazyVariableTracker

    if isinstance(tracker, LazyVariableTracker):
        return _of_tracker(tracker.realize()) if tracker.is_realized() else None
    if isinstance(tracker, ConstantVariable):
        return _of_value(tracker.value)
    try:
        kind = tracker.python_type()
    except Exception:  # NotImplementedError, and what an unusual object raises
        return None
    return _of_type(kind, getattr(tracker, "items", None))


def _of_type(kind: type, parts: Any) -> str | None:
    """What is the same on both sides: how much a container has, the types of numpy."""
    if kind in _CONTAINERS:
        return f"{kind.__qualname__} of {len(parts)}" if isinstance(parts, Sized) else None
    return f"{kind.__module__}.{kind.__qualname__}" if kind.__module__ == "numpy" else None
