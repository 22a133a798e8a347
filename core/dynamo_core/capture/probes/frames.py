"""Probes: every frame that Dynamo tried, with its outcome, and calls that ran eager at the recompile limit.

Frames. Source: torch/_dynamo/convert_frame.py. `counters["frames"]` is counted in `ConvertFrame.__call__`;
whole-graph frames (`fullgraph=True`) go to `ConvertFrameAssert.__call__` directly and are not counted there.
The same in torch 2.8 to 2.15; `ConvertFrameReturn.skip_reason` exists from 2.13 on.

torch's own record lacks the caller of a frame: log_dynamo_start leaves out the innermost two lines of the
stack (2.13), one of which is the user's call. Each call of torch.compile makes a converter.

Recompile limit. After torch refuses to compile a frame once more, it still looks for a matching cache entry,
and where none matches it runs the frame without calling the converter. A hook can be told after each look-up
whether an entry matched. It is set at the first refusal, so that other programs do not pay for it. A look-up
without a match is a call that ran eager, unless the frame is recompiled because of it: those are counted
where the converter is called.

Source: torch/_C/_dynamo/eval_frame.pyi (set_guard_complete_hook: one hook, called with whether an entry
matched; torch uses its answer, and returns the hook that was there before), torch/_dynamo/types.py
(ConvertFrameReturn). Since 2.8; run with 2.13.
"""

import operator
import os
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from traceback import extract_tb
from types import CodeType, MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any

from ...shared.records import CallsAtLimit, FrameTried
from ..frames.source import caller_outside_of, def_line, method_name, torch_folder
from ..primitives import perf_counter_ns, time_ns
from ..writing.stream import Stream
from .breaks import described_break

if TYPE_CHECKING:
    from torch._dynamo.types import DynamoFrameType

    from ..engine_parts import EngineParts

NAME = "calls at torch's recompile limit"
_NO_COMPILE: Mapping[str, int] = MappingProxyType({})
_SUPPRESSED = "an error was suppressed"  # torch's words where it does not say which error


class CallsAtLimitCounter:
    """Counts the calls that ran eager after a refusal in this process, of all frames together.

    It is made at the first refusal. That call ran eager too, but its look-up came before the hook.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._refused, self._converted, self._inherited = 1, 0, 0
        self._missing = _missing_key_counter()
        self._look_ups = type("LookUps", (dict,), {"__missing__": self._missing})({True: True})

    def begin(self) -> None:
        """Set torch's hook for cache look-ups; RuntimeError where other code has set one already."""
        from torch._C._dynamo.eval_frame import set_guard_complete_hook

        before = set_guard_complete_hook(self._look_ups.__getitem__)
        if before is not None:
            set_guard_complete_hook(before)
            raise RuntimeError("torch's hook for look-ups of cache entries is taken")
        os.register_at_fork(after_in_child=self._reset_after_fork)

    def tried(self, compile_id: Mapping[str, int] | None, *, is_refused: bool) -> None:
        """Note a call of the converter: for a frame with entries, it follows a look-up without a match."""
        self._converted += (compile_id or _NO_COMPILE).get("frame_compile_id", 0) > 0
        self._refused += is_refused

    def finish(self) -> None:
        """Record, at the end of the process, how many calls there were."""
        without_match = self._missing.cache_info().misses - self._inherited
        self._stream.record(CallsAtLimit(times=max(0, without_match - self._converted) + self._refused))

    def _reset_after_fork(self) -> None:
        """Count from zero in a forked child, which has its own stream."""
        self._refused, self._converted, self._inherited = 0, 0, self._missing.cache_info().misses


def _missing_key_counter() -> Any:
    """A `__missing__` method for a dict, which returns False and counts its calls.

    It is written in C only. In Python code, Ctrl-C could raise KeyboardInterrupt, and torch, which calls the
    hook where nothing may be raised, would abort the program.
    """
    return lru_cache(maxsize=0)(operator.contains)


def is_refusal(result: Any) -> bool:
    """Whether the converter's answer is that the frame is not recompiled, but its entries are still used.

    Source: torch/_dynamo/convert_frame.py, where exceeds_recompile_limit is called; nothing else gives this
    answer. Read in 2.13.
    """
    strategy = getattr(result, "frame_exec_strategy", None)
    return strategy is not None and strategy.cur_action.name == "RUN_ONLY"


def install(convert_frame: ModuleType, parts: "EngineParts") -> None:
    """Hook into both converters: the counting one calls the other, and an inner call is no further frame."""
    from torch import is_inference_mode_enabled

    probes, handler, limits = parts.probes, parts.trace_handler, parts.limits
    counters = convert_frame.counters
    calls = probes.stream.counters
    entering_inner_converter = False
    compile_calls = 0  # of torch.compile: each makes a converter
    suppressed: BaseException | None = None  # what the inner converter raised, and the outer one suppressed
    folder = torch_folder(convert_frame)
    find_caller = probes.guarded("callers of frames")(lambda: caller_outside_of(folder))
    own_file = convert_frame.__file__
    method_of = probes.guarded("methods of frames")(method_name)
    find_compile_call = probes.guarded("calls of torch.compile")(lambda: caller_outside_of(folder, own_file))

    @probes.guarded(NAME)
    def note_refusals(result: Any) -> None:
        is_refused = is_refusal(result)
        if parts.calls_at_limit is not None:
            parts.calls_at_limit.tried(handler.last_compile, is_refused=is_refused)
        elif is_refused and parts.freeze is None:  # a freeze has look-ups without compiles, too
            counter = CallsAtLimitCounter(probes.stream)
            counter.begin()
            parts.calls_at_limit = counter

    @probes.guarded("frames")
    def record(
        frame: "DynamoFrameType",
        result: Any,
        error: BaseException | None,
        ok: bool,
        whole_graph: bool,
        start: int,
        caller: dict[str, Any] | None,
        compiled_by: dict[str, Any],
    ) -> None:
        elapsed = perf_counter_ns() - start
        code: CodeType = frame.f_code
        calls.note_compile(elapsed)
        limit_met = limits.limit_met()
        reason = getattr(result, "skip_reason", None)
        if suppressed is not None and (reason is None or _SUPPRESSED in reason):
            reason = f"{type(suppressed).__name__}: {suppressed}"
        if limit_met is not None:
            outcome, reason = "skipped", limit_met.reason
        elif error is not None:
            outcome, reason = "raised", f"{type(error).__name__}: {error}"
        elif result.guarded_code is not None:
            outcome = "compiled"
        else:
            outcome = "skipped" if ok else "failed"
        note_refusals(result)
        probes.stream.record(
            FrameTried(
                name=code.co_name,
                method=parts.frame_method,
                file=code.co_filename,
                line=code.co_firstlineno,
                def_line=def_line(code.co_name, code.co_filename, code.co_firstlineno),
                outcome=outcome,
                reason=reason,
                limit=None if limit_met is None else limit_met.limit,
                # Ctrl-C or sys.exit
                is_exit=limit_met is None and error is not None and not isinstance(error, Exception),
                ok=ok,
                whole_graph=whole_graph,
                broke=None if limit_met is not None else _break_that_raised(error),
                stopped=None if limit_met is not None else _what_stopped(suppressed or error),
                called_from=caller,
                **compiled_by,
                inference_mode=is_inference_mode_enabled(),
                thread=_thread_name(),
                ended_ns=time_ns(),
                ns=elapsed,
            ),
            handler.last_compile,
        )

    def wrap(converter: Any, whole_graph: bool) -> None:
        original_init = converter.__init__
        calls_of_line: Counter[tuple[str, int]] = Counter()

        def __init__(self: Any, *args: Any, **named: Any) -> None:
            nonlocal compile_calls
            original_init(self, *args, **named)
            compile_calls += 1
            line = None if parts.whole_program.is_loading else find_compile_call()
            self._dynamo_compiled_by, self._dynamo_compile_call = line, compile_calls
            if line is not None:
                calls_of_line[line["file"], line["line"]] += 1

        def __call__(
            proceed: Callable[..., Any], self: Any, frame: "DynamoFrameType", *rest: Any, **named: Any
        ) -> Any:
            nonlocal entering_inner_converter, suppressed
            if whole_graph and entering_inner_converter:
                entering_inner_converter = False
                try:
                    return proceed(self, frame, *rest, **named)
                except BaseException as error:
                    suppressed = error
                    raise
            entering_inner_converter, suppressed = not whole_graph, None
            handler.last_compile = None
            caller = find_caller()
            parts.frame_method = method_of(frame)
            line = getattr(self, "_dynamo_compiled_by", None)
            compiled_by = {
                "compiled_by": line,
                "compile_call": getattr(self, "_dynamo_compile_call", None),
                "calls_of_line": None if line is None else calls_of_line[line["file"], line["line"]],
            }
            ok_before = counters["frames"]["ok"]
            start = perf_counter_ns()
            try:
                result = proceed(self, frame, *rest, **named)
            except BaseException as error:
                suppressed = None
                record(frame, None, error, False, whole_graph, start, caller, compiled_by)
                raise
            ok = whole_graph or counters["frames"]["ok"] > ok_before
            record(frame, result, None, ok, whole_graph, start, caller, compiled_by)
            suppressed = None  # its traceback keeps frames alive
            return result

        converter.__init__ = __init__
        probes.hook(converter, "__call__", "frames", __call__)

    wrap(convert_frame.ConvertFrame, whole_graph=False)
    wrap(convert_frame.ConvertFrameAssert, whole_graph=True)


def _thread_name() -> str | None:
    """The name of this thread; None for the main thread."""
    thread = threading.current_thread()
    return None if thread is threading.main_thread() else thread.name


def _break_that_raised(error: BaseException | None) -> dict[str, Any] | None:
    """The graph break that an error reports where breaks are not allowed, as with `fullgraph=True`.

    Source: torch/_dynamo/exc.py (Unsupported: msg, real_stack), 2.8 to 2.15.
    """
    stack = getattr(error, "real_stack", None)
    return described_break(str(getattr(error, "msg", error)), stack).payload() if stack else None


def _what_stopped(error: BaseException | None) -> dict[str, Any] | None:
    """The graph break of an error that ended the compile; for a backend's error, where that was raised.

    Source: torch/_dynamo/exc.py (BackendCompilerFailed: inner_exception), 2.8 to 2.15.
    """
    inner = getattr(error, "inner_exception", None)
    if isinstance(inner, BaseException):
        return described_break(str(error), extract_tb(inner.__traceback__)).payload()
    return _break_that_raised(error)
