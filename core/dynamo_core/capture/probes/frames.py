"""Probe: every frame that Dynamo tried, and what came of it.

Source: torch/_dynamo/convert_frame.py. `ConvertFrame.__call__` is where `counters["frames"]` counts;
whole-graph frames (`fullgraph=True`) go to `ConvertFrameAssert.__call__` directly and are not counted there.
The same in torch 2.8 to 2.15; `ConvertFrameReturn.skip_reason` is there from 2.13 on.

Who called the frame is not in torch's own record: log_dynamo_start leaves out the innermost two lines of
the stack that it takes (2.13), of which one is the user's call. Each call of torch.compile makes a converter.
"""

import linecache
import os
import sys
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

from ...shared.names import FRAME
from ..primitives import perf_counter_ns, time_ns
from .breaks import described_break

if TYPE_CHECKING:
    from ..engine_parts import EngineParts

_PACKAGE_FOLDER = os.path.abspath(str(__spec__.origin)).rpartition(f"{os.sep}capture{os.sep}")[0]


def install(convert_frame: ModuleType, parts: "EngineParts") -> None:
    """Wrap both converters. The counting one calls the other, which is then not a frame of its own."""
    probes, handler, limits = parts.probes, parts.trace_handler, parts.limits
    counters = convert_frame.counters
    calls = probes.stream.counters
    entering_inner_converter = False
    torch_folder = str(convert_frame.__file__).rpartition(f"{os.sep}_dynamo{os.sep}")[0] + os.sep
    find_caller = probes.harmless("callers of frames")(lambda: _caller(torch_folder))
    own_file = convert_frame.__file__
    find_compile_call = probes.harmless("calls of torch.compile")(lambda: _caller(torch_folder, own_file))

    @probes.harmless("frames")
    def record(
        code: CodeType,
        result: Any,
        error: BaseException | None,
        ok: bool,
        whole_graph: bool,
        start: int,
        caller: dict[str, Any] | None,
        compiled_by: dict[str, Any] | None,
    ) -> None:
        elapsed = perf_counter_ns() - start
        calls.note_compile(elapsed)
        reason, given_up = getattr(result, "skip_reason", None), limits.given_up()
        if given_up is not None:
            outcome, reason = "skipped", given_up.reason
        elif error is not None:
            outcome, reason = "raised", f"{type(error).__name__}: {error}"
        elif result.guarded_code is not None:
            outcome = "compiled"
        else:
            outcome = "skipped" if ok else "failed"
        probes.stream.artifact(
            FRAME,
            {
                "name": code.co_name,
                "file": code.co_filename,
                "line": code.co_firstlineno,
                "outcome": outcome,
                "reason": reason,
                "limit": None if given_up is None else given_up.limit,
                # Ctrl-C, sys.exit
                "is_exit": given_up is None and error is not None and not isinstance(error, Exception),
                "ok": ok,
                "whole_graph": whole_graph,
                "broke": None if given_up is not None else _break_that_raised(error),
                "called_from": caller,
                "compiled_by": compiled_by,
                "ended_ns": time_ns(),
                "ns": elapsed,
            },
            handler.last_compile,
        )

    def wrap(converter: Any, whole_graph: bool) -> None:
        original = converter.__call__
        original_init = converter.__init__

        def __init__(self: Any, *args: Any, **named: Any) -> None:
            original_init(self, *args, **named)
            self._dynamo_compiled_by = find_compile_call()

        def __call__(self: Any, frame: Any, *rest: Any, **named: Any) -> Any:
            nonlocal entering_inner_converter
            # One more call lies on the stack than Dynamo's `skip` knows of.
            named["skip"] = named.get("skip", 0) + 1
            if whole_graph and entering_inner_converter:
                entering_inner_converter = False
                return original(self, frame, *rest, **named)
            entering_inner_converter = not whole_graph
            handler.last_compile = None
            caller, compiled_by = find_caller(), getattr(self, "_dynamo_compiled_by", None)
            ok_before = counters["frames"]["ok"]
            start = perf_counter_ns()
            try:
                result = original(self, frame, *rest, **named)
            except BaseException as error:
                record(frame.f_code, None, error, False, whole_graph, start, caller, compiled_by)
                raise
            ok = whole_graph or counters["frames"]["ok"] > ok_before
            record(frame.f_code, result, None, ok, whole_graph, start, caller, compiled_by)
            return result

        converter.__init__ = __init__
        converter.__call__ = __call__

    wrap(convert_frame.ConvertFrame, whole_graph=False)
    wrap(convert_frame.ConvertFrameAssert, whole_graph=True)


def _break_that_raised(error: BaseException | None) -> dict[str, Any] | None:
    """The graph break that was not allowed, as with `fullgraph=True`.

    Source: torch/_dynamo/exc.py (Unsupported: msg, real_stack), 2.8 to 2.15.
    """
    stack = getattr(error, "real_stack", None)
    return described_break(str(getattr(error, "msg", error)), stack) if stack else None


def _caller(torch_folder: str, own_file: str | None = None) -> dict[str, Any] | None:
    """The innermost line of the stack that is neither torch's nor ours.

    None if it led to a converter of `own_file`: that makes copies of itself while it compiles (DDPOptimizer).
    """
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((torch_folder, _PACKAGE_FOLDER)):
        if frame.f_code.co_filename == own_file and frame.f_code.co_name == "__call__":
            return None
        frame = frame.f_back
    if frame is None:
        return None
    file, line = frame.f_code.co_filename, frame.f_lineno
    return {
        "file": file,
        "line": line,
        "name": frame.f_code.co_name,
        "text": linecache.getline(file, line).strip(),
    }
