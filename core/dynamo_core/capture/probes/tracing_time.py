"""Probe: how much of Dynamo's tracing time was spent on which function of the program, and their lines.

Source: torch/_dynamo/symbolic_convert.py (InstructionTranslatorBase.run, which traces a frame, a function
inlined into it, and a generator each time it is resumed; its `with self.run_ctx_mgr()` is what we wrap) and
torch/_dynamo/output_graph.py (OutputGraph.mark_bytecode_tracing_stop, where tracing ends and the backend
begins). Read whole in 2.13, and run with it; excerpts of several older versions have both in the same form.

torch's own `config.dynamo_profiler` (2.11 on) turns a break in an inlined function into an internal error: it
needs the frame's translator when tracing ends, which a frame that failed no longer has (seen in 2.13). We
keep what we need of a function ourselves, and end its call whenever its context manager is left. A context
manager also adds no Python frame to the tracer's, so that deep inlining meets the recursion limit at the same
depth as without us.
"""

import threading
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

from ...shared.records import FunctionsTraced, LinesTraced
from ..frames.program_files import is_own
from ..frames.source import current_compile_id, source_lines
from ..primitives import perf_counter_ns

if TYPE_CHECKING:
    from torch._dynamo.output_graph import OutputGraph
    from torch._dynamo.symbolic_convert import InstructionTranslatorBase

    from ..engine_parts import EngineParts

_MOST_FUNCTIONS = 200  # the costliest of one attempt; the others are added up

_Function = tuple[str, str, int]  # name, file, first line


class _Attempt:
    """The times of one attempt at a frame. `nested_ns` is the time of calls that the innermost one made."""

    __slots__ = ("active", "codes", "nested_ns", "stopped_ns", "totals")

    def __init__(self) -> None:
        self.totals: dict[_Function, list[int]] = {}  # calls, ns with callees, ns without
        self.active: set[_Function] = set()
        self.codes: dict[_Function, CodeType] = {}
        self.nested_ns = 0
        self.stopped_ns: int | None = None


class _Call:
    """The tracing of one function. `is_outermost` is False in a recursion, whose time counts once."""

    __slots__ = ("attempt", "function", "is_outermost", "nested_before_ns", "start_ns")

    def __init__(self, attempt: _Attempt, code: CodeType) -> None:
        self.attempt = attempt
        self.function = function = _function(code)
        self.is_outermost = function not in attempt.active
        self.nested_before_ns = attempt.nested_ns
        attempt.active.add(function)
        attempt.codes[function] = code
        attempt.nested_ns = 0
        self.start_ns = perf_counter_ns()

    def end(self) -> None:
        """Add the call's time to the totals; it ends at the latest when the backend begins."""
        attempt = self.attempt
        end_ns = attempt.stopped_ns or perf_counter_ns()
        spent = max(end_ns - self.start_ns, 0)
        totals = attempt.totals.setdefault(self.function, [0, 0, 0])
        totals[0] += 1
        totals[2] += spent - attempt.nested_ns
        if self.is_outermost:
            totals[1] += spent
            attempt.active.discard(self.function)
        attempt.nested_ns = self.nested_before_ns + spent


class _TimedContext:
    """The translator's own context manager, with `begin` called before it and `end` after it."""

    __slots__ = ("_begin", "_call", "_end", "_inner")

    def __init__(self, inner: Any, begin: Callable[[], _Call | None], end: Callable[[Any], None]) -> None:
        self._inner = inner
        self._begin = begin
        self._end = end
        self._call: _Call | None = None

    def __enter__(self) -> Any:
        self._call = self._begin()
        return self._inner.__enter__()

    def __exit__(self, *raised: Any) -> Any:
        try:
            return self._inner.__exit__(*raised)
        finally:
            self._end(self._call)


def install(symbolic_convert: ModuleType, parts: "EngineParts") -> None:
    """Wrap `run_ctx_mgr` wherever a translator has its own, and the end of tracing."""
    probes = parts.probes
    root = symbolic_convert.InstructionTranslator
    local = threading.local()
    with_lines: set[_Function] = set()  # recorded before

    def attempts() -> list[_Attempt]:
        """The attempts in progress in this thread: tracing may call a function that is compiled in turn."""
        try:
            return local.attempts  # type: ignore[no-any-return]
        except AttributeError:
            local.attempts = []
            return local.attempts  # type: ignore[no-any-return]

    @probes.guarded("tracing time")
    def begin(code: CodeType, is_root: bool) -> _Call | None:
        running = attempts()
        if is_root:
            running.append(_Attempt())
        return _Call(running[-1], code) if running else None

    @probes.guarded("tracing time")
    def end(call: _Call | None, is_root: bool) -> None:
        if call is None:
            return
        call.end()
        if is_root:
            running = attempts()
            del running[running.index(call.attempt) :]  # an interrupt may have left inner attempts
            probes.stream.record(_functions_traced(call.attempt), current_compile_id())
            new = _lines_of(call.attempt.codes, with_lines)
            if new.functions:
                probes.stream.record(new, current_compile_id())

    def mark_bytecode_tracing_stop(proceed: Callable[..., Any], graph: "OutputGraph") -> Any:
        running = attempts()
        if running and running[-1].stopped_ns is None:
            running[-1].stopped_ns = perf_counter_ns()
        return proceed(graph)

    def run_ctx_mgr(proceed: Callable[..., Any], translator: "InstructionTranslatorBase") -> Any:
        code, is_root = translator.f_code, isinstance(translator, root)
        return _TimedContext(
            proceed(translator), lambda: begin(code, is_root), lambda call: end(call, is_root)
        )

    # First: where torch lacks this method, nothing is timed, rather than the backend with the tracing.
    probes.hook(
        symbolic_convert.OutputGraph, "mark_bytecode_tracing_stop", "tracing time", mark_bytecode_tracing_stop
    )
    for kind in vars(symbolic_convert).copy().values():
        if isinstance(kind, type) and "run_ctx_mgr" in vars(kind):
            probes.hook(kind, "run_ctx_mgr", "tracing time", run_ctx_mgr)


def _function(code: CodeType) -> _Function:
    return getattr(code, "co_qualname", code.co_name), code.co_filename, code.co_firstlineno


def _functions_traced(attempt: _Attempt) -> FunctionsTraced:
    """The record of an attempt: the functions with the longest exclusive times, and totals of the others."""
    by_exclusive_time = sorted(attempt.totals.items(), key=lambda item: -item[1][2])
    longest, others = by_exclusive_time[:_MOST_FUNCTIONS], by_exclusive_time[_MOST_FUNCTIONS:]
    return FunctionsTraced(
        functions=[
            {
                "name": name,
                "file": file,
                "line": line,
                "calls": calls,
                "inclusive_ns": inclusive,
                "exclusive_ns": exclusive,
            }
            for (name, file, line), (calls, inclusive, exclusive) in longest
        ],
        others={
            "functions": len(others),
            "calls": sum(totals[0] for _, totals in others),
            "exclusive_ns": sum(totals[2] for _, totals in others),
        },
    )


def _lines_of(codes: dict[_Function, CodeType], with_lines: set[_Function]) -> LinesTraced:
    """The lines of the program's own functions, without those that are `with_lines`, where they are noted."""
    new = [function for function in codes if function not in with_lines and is_own(function[1])]
    with_lines.update(new)
    return LinesTraced(
        functions=[
            {"file": file, "around": source_lines(codes[name, file, line])} for name, file, line in new
        ]
    )
