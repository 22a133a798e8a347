"""`--verify`: frames that were captured, beside plain Python.

A program that does not call torch.compile has nothing that can be watched between a call and its result. So
the code of each cache entry is replaced by one that makes the call through `verified_program.py`.
"""

import functools
import itertools
from collections.abc import Callable
from types import CellType, CodeType, FunctionType
from typing import Any

from ...shared.records import ProgramCallVerified
from ..frames.replaced_code import calling_code, function_with_cells, put_in_place
from ..frames.source import is_resumed
from .call_in_copy import ProgramCall
from .verified_program import ComparedFunction, ProgramVerifier, without_own_lines


class FrameVerifier:
    """Compares calls of captured frames, in this process.

    `capture` has frames captured, in a copy; `leave_to_eager` is given code that is not to be captured.
    """

    def __init__(
        self,
        verifier: ProgramVerifier,
        capture: Callable[[], None],
        leave_to_eager: Callable[[CodeType], None],
    ) -> None:
        self._verifier = verifier
        self._capture = capture
        self._leave_to_eager = leave_to_eager
        self._functions: dict[CodeType, _CapturedFunction] = {}

    def watch(self, frame: Any, guarded_code: Any, backend: Any) -> None:
        """Have the calls compared that use this entry of a frame, which the backend has just compiled."""
        if not is_resumed(frame.f_code):
            self._verifier.guarded(self._watch)(frame, guarded_code, backend)

    def _watch(self, frame: Any, guarded_code: Any, backend: Any) -> None:
        original, names, compiled = frame.f_code, frame.f_globals, guarded_code.code
        function = self._functions.get(original)
        if function is None:
            function = _CapturedFunction(self._verifier, original, names, backend)
            self._functions[original] = function
        calls = itertools.count()

        def call(cells: Callable[..., Any] | None, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
            run, in_eager = (
                function_with_cells(code, names, original, cells) for code in (compiled, original)
            )
            if self._verifier.is_inside():
                return run(*args, **named)
            make = functools.partial(
                ProgramCall, _Capturing(run, in_eager, self._capture), None, backend, args, named
            )
            try:
                return function.call(functools.partial(run, *args, **named), make, is_first=next(calls) == 0)
            except Exception as error:
                raise without_own_lines(error)  # noqa: B904  its cause and context stay as they are

        code = calling_code(original, call)
        if code is None:
            function.record(1, outcome="not compared", why="Python cannot make code with its variables", ns=0)
        else:
            put_in_place(guarded_code, code, original, self._leave_to_eager)


class _CapturedFunction(ComparedFunction):
    """A function of which a frame was captured."""

    def __init__(
        self, verifier: ProgramVerifier, code: CodeType, names: dict[str, Any], backend: Any
    ) -> None:
        super().__init__(verifier, backend)
        self._code, self._names = code, names

    @property
    def function(self) -> Any:
        """The program's function, without the variables that it encloses: each frame has its own."""
        return FunctionType(
            self._code, self._names, None, None, tuple(CellType() for _ in self._code.co_freevars)
        )

    def record(self, number: int, **fields: Any) -> None:
        """Write what came of a call."""
        file, line = self._code.co_filename, self._code.co_firstlineno
        self.verifier.record(
            ProgramCallVerified(
                name=getattr(self._code, "co_qualname", self._code.co_name),
                file=file,
                line=line,
                function_file=file,
                function_line=line,
                call=number,
                **fields,
            )
        )


class _Capturing:
    """A captured function in a copy of the process, in which no frame is captured but while it is called."""

    def __init__(self, compiled: Any, original: Any, capture: Callable[[], None]) -> None:
        self._compiled = compiled
        self._torchdynamo_orig_callable = original
        self._capture = capture

    def __call__(self, *args: Any, **named: Any) -> Any:
        from torch._C._dynamo.eval_frame import set_eval_frame

        self._capture()
        try:
            return self._compiled(*args, **named)
        finally:
            set_eval_frame(None)
