"""Probe: every frame that Dynamo tried, and what came of it.

Source: torch/_dynamo/convert_frame.py. `ConvertFrame.__call__` is where `counters["frames"]` counts;
whole-graph frames (`fullgraph=True`) go to `ConvertFrameAssert.__call__` directly and are not counted there.
The same in torch 2.8 to 2.15; `ConvertFrameReturn.skip_reason` is there from 2.13 on.

Who called the frame is not in torch's own record: log_dynamo_start leaves out the innermost two lines of
the stack that it takes (2.13), of which one is the user's call. Each call of torch.compile makes a converter.
"""

import operator
import os
import threading
from collections.abc import Mapping
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
    from ..engine_parts import EngineParts


# Probe: how many calls ran eager after torch refused to compile a frame once more, at its recompile limit.
#
# torch goes on looking at the frame's entries, and where none fits it runs the frame without calling us. It
# can be asked to say after each look-up whether an entry fitted; that is done from the first refusal on, so
# that no other program pays for it. A look-up that found nothing was a call that ran eager, or the frame is
# compiled again because of it: those are counted where torch's converter is called.
#
# Source: torch/_C/_dynamo/eval_frame.pyi (set_guard_complete_hook: one hook, called with whether an entry
# fitted; torch goes by what it answers, and says which was there before), torch/_dynamo/types.py
# (ConvertFrameReturn). There since 2.8; run with 2.13.


NAME = "calls at torch's recompile limit"
_NONE: Mapping[str, int] = MappingProxyType({})


class CallsAtLimitCounter:
    """Counts them in this process, all frames together.

    It is made at the first refusal: that call ran eager, too, and was looked up before.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._refused, self._converted, self._of_parent = 1, 0, 0
        self._missing = _counting()
        self._look_ups = type("LookUps", (dict,), {"__missing__": self._missing})({True: True})

    def begin(self) -> None:
        """Ask torch to say what each look-up found; RuntimeError where somebody else has asked it to."""
        from torch._C._dynamo.eval_frame import set_guard_complete_hook

        before = set_guard_complete_hook(self._look_ups.__getitem__)
        if before is not None:
            set_guard_complete_hook(before)
            raise RuntimeError("torch's hook for look-ups of cache entries is taken")
        os.register_at_fork(after_in_child=self._begin_anew)

    def tried(self, compile_id: Mapping[str, int] | None, *, is_refused: bool) -> None:
        """The converter was called: for a frame that has entries, because a look-up found nothing."""
        self._converted += (compile_id or _NONE).get("frame_compile_id", 0) > 0
        self._refused += is_refused

    def finish(self) -> None:
        """The process ends: record how many calls there were."""
        found_nothing = self._missing.cache_info().misses - self._of_parent
        self._stream.record(CallsAtLimit(times=max(0, found_nothing - self._converted) + self._refused))

    def _begin_anew(self) -> None:
        """A forked child has a stream of its own."""
        self._refused, self._converted, self._of_parent = 0, 0, self._missing.cache_info().misses


def _counting() -> Any:
    """What a dict calls for a key that it has not: answers False, and counts how often.

    All of it is C. In code of Python's, Ctrl-C would raise KeyboardInterrupt, and torch, which calls this
    where nothing may be raised, would abort the program.
    """
    return lru_cache(maxsize=0)(operator.contains)


def is_refusal(result: Any) -> bool:
    """Whether the converter's answer is that the frame is not compiled again, and its entries are still used.

    Source: torch/_dynamo/convert_frame.py, where exceeds_recompile_limit is asked; nothing else answers so.
    Read in 2.13.
    """
    strategy = getattr(result, "frame_exec_strategy", None)
    return strategy is not None and strategy.cur_action.name == "RUN_ONLY"


# Probe:


_SUPPRESSED = "an error was suppressed"  # torch's words where it does not say which


def install(convert_frame: ModuleType, parts: "EngineParts") -> None:
    """Wrap both converters. The counting one calls the other, which is then not a frame of its own."""
    probes, handler, limits = parts.probes, parts.trace_handler, parts.limits
    counters = convert_frame.counters
    calls = probes.stream.counters
    entering_inner_converter = False
    suppressed: BaseException | None = None  # what the inner converter raised, and the outer one kept
    folder = torch_folder(convert_frame)
    find_caller = probes.guarded("callers of frames")(lambda: caller_outside_of(folder))
    own_file = convert_frame.__file__
    find_compile_call = probes.guarded("calls of torch.compile")(lambda: caller_outside_of(folder, own_file))

    @probes.guarded(NAME)
    def note_refusals(result: Any) -> None:
        is_refused = is_refusal(result)
        if parts.calls_at_limit is not None:
            parts.calls_at_limit.tried(handler.last_compile, is_refused=is_refused)
        elif is_refused and parts.freeze is None:  # which looks entries up without compiling, too
            counter = CallsAtLimitCounter(probes.stream)
            counter.begin()
            parts.calls_at_limit = counter

    @probes.guarded("frames")
    def record(
        frame: Any,
        result: Any,
        error: BaseException | None,
        ok: bool,
        whole_graph: bool,
        start: int,
        caller: dict[str, Any] | None,
        compiled_by: dict[str, Any] | None,
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
                method=method_name(frame),
                file=code.co_filename,
                line=code.co_firstlineno,
                def_line=def_line(code.co_name, code.co_filename, code.co_firstlineno),
                outcome=outcome,
                reason=reason,
                limit=None if limit_met is None else limit_met.limit,
                # Ctrl-C, sys.exit
                is_exit=limit_met is None and error is not None and not isinstance(error, Exception),
                ok=ok,
                whole_graph=whole_graph,
                broke=None if limit_met is not None else _break_that_raised(error),
                stopped=None if limit_met is not None else _what_stopped(suppressed or error),
                called_from=caller,
                compiled_by=compiled_by,
                thread=_thread_name(),
                ended_ns=time_ns(),
                ns=elapsed,
            ),
            handler.last_compile,
        )

    def wrap(converter: Any, whole_graph: bool) -> None:
        original = converter.__call__
        original_init = converter.__init__

        def __init__(self: Any, *args: Any, **named: Any) -> None:
            original_init(self, *args, **named)
            self._dynamo_compiled_by = find_compile_call()

        def __call__(self: Any, frame: Any, *rest: Any, **named: Any) -> Any:
            nonlocal entering_inner_converter, suppressed
            # One more call lies on the stack than Dynamo's `skip` knows of.
            named["skip"] = named.get("skip", 0) + 1
            if whole_graph and entering_inner_converter:
                entering_inner_converter = False
                try:
                    return original(self, frame, *rest, **named)
                except BaseException as error:
                    suppressed = error
                    raise
            entering_inner_converter, suppressed = not whole_graph, None
            handler.last_compile = None
            caller, compiled_by = find_caller(), getattr(self, "_dynamo_compiled_by", None)
            ok_before = counters["frames"]["ok"]
            start = perf_counter_ns()
            try:
                result = original(self, frame, *rest, **named)
            except BaseException as error:
                suppressed = None
                record(frame, None, error, False, whole_graph, start, caller, compiled_by)
                raise
            ok = whole_graph or counters["frames"]["ok"] > ok_before
            record(frame, result, None, ok, whole_graph, start, caller, compiled_by)
            suppressed = None  # it holds the frames that it went through
            return result

        converter.__init__ = __init__
        converter.__call__ = __call__

    wrap(convert_frame.ConvertFrame, whole_graph=False)
    wrap(convert_frame.ConvertFrameAssert, whole_graph=True)


def _thread_name() -> str | None:
    """None for the main thread."""
    thread = threading.current_thread()
    return None if thread is threading.main_thread() else thread.name


def _break_that_raised(error: BaseException | None) -> dict[str, Any] | None:
    """The graph break that was not allowed, as with `fullgraph=True`.

    Source: torch/_dynamo/exc.py (Unsupported: msg, real_stack), 2.8 to 2.15.
    """
    stack = getattr(error, "real_stack", None)
    return described_break(str(getattr(error, "msg", error)), stack).payload() if stack else None


def _what_stopped(error: BaseException | None) -> dict[str, Any] | None:
    """The same of an error that torch kept to itself; of a backend's own error, where that was raised.

    Source: torch/_dynamo/exc.py (BackendCompilerFailed: inner_exception), 2.8 to 2.15.
    """
    inner = getattr(error, "inner_exception", None)
    if isinstance(inner, BaseException):
        return described_break(str(error), extract_tb(inner.__traceback__)).payload()
    return _break_that_raised(error)
