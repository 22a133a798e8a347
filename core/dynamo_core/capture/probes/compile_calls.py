"""Probe: calls of torch.compile whose result the program did not use.

Source: torch/_dynamo/eval_frame.py. `OptimizeContext.__call__` makes the compiled function, and each call of
that first calls what is in the context's `enter_exit_hooks`; what a hook returns is called after it. Where
another compiled function inlines it, it is not called, but its code is in the list of traced code
(torch/_guards.py, TracingContext.traced_code). Read in 2.8 to 2.15, run with 2.13.

A hook is one call of Python's until the first call of the compiled function, and is gone then. It stays where
that call was made under a TorchDispatchMode: torch then skips the function (torch/_dynamo/convert_frame.py,
CatchErrorsWrapper), for good, and compiles no graph of it.
"""

import functools
import os
import sys
from collections.abc import Callable, Iterator
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, Literal

from ...shared.early_records import CompileResultUnused
from ..frames.program_files import is_own
from ..frames.source import caller_outside_of
from ..probe_guard import ProbeGuard

if TYPE_CHECKING:
    from torch._dynamo.output_graph import OutputGraph

    from ..engine_parts import EngineParts

Why = Literal["never called", "force_eager", "dispatch mode"]
_NAME = "calls of torch.compile"
# Where a decorator is called: Python 3.10 gives the line of the function itself.
_DECORATED = ("@",) if sys.version_info >= (3, 11) else ("@", "def ", "async def ")
_MOST = 1000  # a program can call torch.compile without end


class CompileCalls:
    """The calls of torch.compile of this process whose result was not used so far."""

    def __init__(self, probes: ProbeGuard) -> None:
        self._probes = probes
        self._unused: dict[int, _CompileCall] = {}
        self.finish = probes.guarded(_NAME)(self._finish)
        os.register_at_fork(after_in_child=self._unused.clear)  # a child is not to speak of its parent's

    def install(self, eval_frame: ModuleType, parts: "EngineParts") -> None:
        """Wait for the first call of whatever torch.compile makes for the program."""

        def __call__(proceed: Callable[..., Any], context: Any, function: Any) -> Any:
            self._note(context, function, eval_frame)
            return proceed(context, function)

        self._probes.hook(eval_frame.OptimizeContext, "__call__", _NAME, __call__)

    def install_on_graphs(self, output_graph: ModuleType, parts: "EngineParts") -> None:
        """Take what is traced into a graph as used, too."""

        def call_user_compiler(proceed: Callable[..., Any], graph: "OutputGraph", *rest: Any) -> Any:
            if self._unused:
                self._traced(graph)
            return proceed(graph, *rest)

        self._probes.hook(output_graph.OutputGraph, "call_user_compiler", _NAME, call_user_compiler)

    def _note(self, context: Any, function: Any, eval_frame: ModuleType) -> None:
        line = _line_of_program()
        # What a class holds is compiled by calls of their own.
        if line is None or isinstance(function, type) or len(self._unused) >= _MOST:
            return
        if any(isinstance(hook, _CompileCall) for hook in context.enter_exit_hooks):
            return
        call = _CompileCall(self._unused, context, function, line, eval_frame)
        self._unused[id(call)] = call
        context.enter_exit_hooks.append(call)

    def _traced(self, graph: "OutputGraph") -> None:
        traced = getattr(graph.tracing_context, "traced_code", None)
        for call in list(self._unused.values()):
            if (
                traced is None
                or not call.codes
                or any(code is each for code in call.codes for each in traced)
            ):
                call.is_used()

    def _finish(self) -> None:
        """Write those whose result was not used. A decorated function that is not needed is no mistake."""
        for call in list(self._unused.values()):
            if call.why != "never called" or not call.line["text"].startswith(_DECORATED):
                self._probes.stream.record(call.record())


class _CompileCall:
    """A hook that torch calls with the compiled function.

    Copies of the context share it; a pickled one has a function of the standard library in its place.
    """

    def __init__(
        self,
        unused: "dict[int, _CompileCall]",
        context: Any,
        function: Any,
        line: dict[str, Any],
        eval_frame: ModuleType,
    ) -> None:
        import torch

        self._unused = unused
        self._context = context
        self._eval_frame = eval_frame
        owner = getattr(function, "__self__", function)
        self.is_module = issubclass(type(owner), torch.nn.Module)
        self.name = _name(type(owner) if self.is_module else function)
        compiled = type(owner).forward if self.is_module else function
        self.codes = list(_codes(compiled))
        self.line = line
        self.why: Why = "never called"

    def __call__(self) -> Any:
        """The compiled function is called; torch calls what this returns when that has ended."""
        if self._eval_frame._stance.stance == "force_eager":
            self.why = "force_eager"
        elif _is_in_dispatch_mode():
            self.why, self.line = "dispatch mode", _line_of_program() or self.line
        elif self.why != "dispatch mode":
            self.is_used()
        return int

    def is_used(self) -> None:
        """Forget it; torch may be going through the list of hooks, so that it gets another one."""
        self._unused.pop(id(self), None)
        self._context.enter_exit_hooks = [hook for hook in self._context.enter_exit_hooks if hook is not self]

    def record(self) -> CompileResultUnused:
        """The record that says so."""
        return CompileResultUnused(function=self.name, is_module=self.is_module, why=self.why, line=self.line)

    def __copy__(self) -> "_CompileCall":
        return self

    def __deepcopy__(self, known: Any) -> "_CompileCall":
        return self

    def __reduce__(self) -> Any:
        self.is_used()  # whoever has the pickled one may call it
        return functools.partial, (functools.partial, int)


def _line_of_program() -> dict[str, Any] | None:
    """The line of the program's own code that is calling torch; None for a library's call."""
    import torch

    folder = os.path.dirname(torch.__file__) + os.sep
    line = caller_outside_of(folder)
    return line if line is not None and is_own(line["file"]) else None


def _is_in_dispatch_mode() -> bool:
    """Whether a mode is active under which torch compiles nothing."""
    from torch.utils import _python_dispatch as modes

    on_stack: Callable[[], bool] | None = getattr(modes, "any_torch_dispatch_mode_on_stack", None)
    return modes.is_in_torch_dispatch_mode(False) if on_stack is None else on_stack()


def _name(function: Any) -> str:
    return str(getattr(function, "__qualname__", None) or type(function).__qualname__)


def _codes(function: Any) -> Iterator[CodeType]:
    """The code of a function, and of those that it wraps."""
    while function is not None:
        code = getattr(function, "__code__", None)
        if isinstance(code, CodeType):
            yield code
        function = getattr(function, "__wrapped__", None) or getattr(function, "func", None)
