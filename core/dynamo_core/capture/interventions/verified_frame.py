"""`--verify`: frames that were captured, beside plain Python.

A program that does not call torch.compile has nothing that can be watched between a call and its result. So
both are made in copies of the process when a frame was compiled: the call in plain Python, and the call with
frames captured, which compiles the frame once more.
"""

from collections.abc import Callable
from typing import Any

from ...shared.records import ProgramCallVerified
from ..errors import text_of
from ..frames.source import is_resumed
from ..primitives import perf_counter_ns
from .call_in_copy import ProgramCall
from .compared_call import ComparedCall, obstacle
from .fork_server import ForkServer
from .trials import frame_call
from .verified_program import ProgramVerifier


class FrameVerifier:
    """Compares the calls with which frames are compiled, in this process."""

    def __init__(self, verifier: ProgramVerifier) -> None:
        self._verifier = verifier
        self._compiled: dict[Any, int] = {}

    def verify(self, frame: Any, backend: Any, capture: Callable[[], None]) -> None:
        """Compare the call of a frame that was compiled; `capture` has frames captured, in a copy."""
        number = self._compiled[frame.f_code] = self._compiled.get(frame.f_code, 0) + 1
        function = _CapturedFunction(self._verifier, frame.f_code, backend, capture)
        self._verifier.guarded(function.verify)(frame, number)


class _CapturedFunction:
    """A function of which a frame was compiled."""

    def __init__(
        self, verifier: ProgramVerifier, code: Any, backend: Any, capture: Callable[[], None]
    ) -> None:
        self.verifier = verifier
        self._code = code
        self.backend = backend
        self._capture = capture

    def verify(self, frame: Any, number: int) -> None:
        """Compare the call with this frame, the `number`th that was compiled, and record what came of it."""
        if is_resumed(frame.f_code):
            return
        with self.verifier.alone() as is_alone:
            why_not = self.verifier.may_verify() if is_alone else ""
            if why_not is None:
                self._compare(frame, ComparedCall(self, number))
            elif why_not:
                self.record(number, outcome="not compared", why=why_not, ns=0)

    def _compare(self, frame: Any, call: ComparedCall) -> None:
        began = perf_counter_ns()
        try:
            function, args, named = frame_call(frame)
            call.graphs_before = -1  # what was compiled just now is none of an earlier call
            call.program = _CallInPython(_Capturing(function, self._capture), self, args, named)
            why_not = obstacle(call.program)
            server = ForkServer(call.program.work, self.verifier.prepare_copy) if why_not is None else None
        except Exception as error:
            why_not, server = text_of(error), None
        if server is None:
            call.record("not compared", why=why_not, ns=perf_counter_ns() - began)
        else:
            call.compare(None, server, 0, perf_counter_ns() - began)

    def stop(self) -> None:
        """Nothing: a further call is compared when it is compiled."""

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
    """A function whose frames are captured when it is called."""

    def __init__(self, function: Any, capture: Callable[[], None]) -> None:
        self._torchdynamo_orig_callable = function
        self._capture = capture

    def __call__(self, *args: Any, **named: Any) -> Any:
        from torch._C._dynamo.eval_frame import set_eval_frame

        self._capture()
        try:
            return self._torchdynamo_orig_callable(*args, **named)
        finally:
            set_eval_frame(None)


class _CallInPython(ProgramCall):
    """The call of a captured frame; in plain Python no frame is captured, nor is what was compiled used."""

    def _in_eager(self, *args: Any, **named: Any) -> Any:
        import torch

        torch.compiler.set_stance("force_eager")
        return self.original(*args, **named)
