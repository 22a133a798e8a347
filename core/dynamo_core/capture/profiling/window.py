"""`dynamo run --profile`: torch.profiler around a window of steady steps.

A step is what happens from one call of a compiled graph to its next, and is steady when nothing is compiled
in it. After two of them, on the graph that comes to it first (the anchor), the window opens: one step to warm
the profiler up, which the reader leaves out, then the steps that are wanted. One more step is recorded with
the program's lines and with allocations: they take time, so it says where and how much, never how long.
Between the two, a step passes without a profiler: what began under the first must end before the second
begins, since torch would note that end in memory that is gone (profiler_kineto.cpp, onFunctionExit).

A profiler sees the thread that starts it and autograd's threads. It must be stopped there, and kineto
wants to be started in the thread that loaded torch: only calls in the main thread count. A graph that is no
longer called leaves the profiler running, and it keeps every event in memory: after a while it is stopped.

A signal's handler can raise anywhere, in here as well. What it raises is the program's, and goes on.

Source: torch/profiler/profiler.py (profile), torch/autograd/profiler.py (profile._prepare_trace and
_start_trace; _run_on_profiler_start, which emit_nvtx and emit_itt call, too). Read and run with 2.13.
"""

import ctypes
import os
import sys
import threading
import zlib
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from enum import Enum
from typing import Any

from ...shared.names import PROFILE_PREFIX, PROFILE_SUFFIX
from ...shared.records import WindowNoted
from ...shared.settings import Settings
from ..frames.program_files import is_own
from ..primitives import create_private, getpid, perf_counter_ns, time_ns
from ..probe_guard import ProbeGuard
from ..writing.file_size_limit import FileSizeSignalBlocked
from .lines import CAN_MARK_LINES, LineMarks, profiler_quiet, warnings_of_c10_quiet

# Pack an exported trace, a piece at a time: it can be larger than what memory is free.


_PIECE = 1 << 20  # bytes
_LEVEL = 1  # a tenth of the size; better would keep the program waiting several times as long
_GZIP = zlib.MAX_WBITS + 16


def compress(plain: str, packed: str) -> None:
    """Make the gzip file `packed` of `plain`, which goes. A `packed` that exists is whole."""
    unfinished = f"{packed}.part"
    compressor = zlib.compressobj(_LEVEL, wbits=_GZIP)
    try:
        with open(plain, "rb") as source, open(unfinished, "xb", opener=create_private) as target:
            while piece := source.read(_PIECE):
                target.write(compressor.compress(piece))
            target.write(compressor.flush())
        os.rename(unfinished, packed)
    finally:
        for left_over in (plain, unfinished):
            if os.path.exists(left_over):
                os.unlink(left_over)


# Call something in the main thread once a time is up, whatever that thread does then.
#
# A thread waits, and leaves a pending call with the interpreter. It is none of `threading`'s, so a program
# that counts its threads does not meet it.
#
# Source: Python's C API (Py_AddPendingCall), which runs the call in the main thread, between instructions.


_PENDING_CALL = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


class Deadline:
    """One deadline at a time; `call_back` must not raise."""

    def __init__(self, call_back: Callable[[], None]) -> None:
        def run(argument: Any) -> int:
            call_back()
            return 0

        self._pending_call = _PENDING_CALL(run)
        self._cancelled: Any = None

    def set(self, seconds: float) -> None:
        """Begin to wait: the time is up in so many seconds."""
        self.cancel()
        cancelled = self._cancelled = allocate_lock()
        cancelled.acquire()

        def wait() -> None:
            if not cancelled.acquire(True, seconds):
                ctypes.pythonapi.Py_AddPendingCall(self._pending_call, None)

        start_new_thread(wait, ())

    def cancel(self) -> None:
        """No call any more, unless it is on its way."""
        cancelled, self._cancelled = self._cancelled, None
        if cancelled is not None:
            cancelled.release()


# `dynamo run --profile`:


_STEADY_STEPS = 2
_WARM_UP_STEPS = 1
_LEAST_PATIENCE_S = 0.5
_SLOWEST_LINES_STEP = 30  # times a plain one
_MOST_FORKS = 3  # that cut a window short, before we let it be
_PROBE = "profile window"


def profile_window(settings: Settings, probes: ProbeGuard) -> "ProfileWindow | None":
    """The window, where the settings ask for one."""
    if not settings.profile:
        return None
    window: ProfileWindow | None = probes.guarded(_PROBE)(lambda: ProfileWindow(settings, probes))()
    return window


class _State(Enum):
    LOOKING = "no compiled graph was called often enough with nothing compiled in between"
    TIMES = "times"
    BETWEEN = "between"
    LINES = "lines"
    OVER = "over"


class ProfileWindow:
    """Finds the window and opens it. Every call of a compiled graph is an opportunity to."""

    def __init__(self, settings: Settings, probes: ProbeGuard) -> None:
        self._folder = settings.recording
        self._steps_wanted = settings.profile_steps
        self._probes = probes
        self._state = _State.LOOKING
        self._compiles = 0
        is_main = threading.current_thread() is threading.main_thread()
        self._thread = threading.get_ident() if is_main else None
        self._is_called_elsewhere = False
        self._steady: dict[int, tuple[int, int]] = {}  # by graph: compiles, steps
        self._called_ns: dict[int, int] = {}
        self._step_s = 0.0
        self._forks = 0
        self._busy_since = 0  # while we are at work
        self._own_ns = 0
        self._deadline = Deadline(probes.guarded(_PROBE)(self._time_is_up))
        self._anchor: int | None = None
        self._anchor_calls = 0
        self._compiles_at_open = 0
        self._opened_ns = 0
        self._profiler: Any = None
        self._is_starting = False
        self._why_none: str | None = None
        self._why_no_lines: str | None = None
        self._has_device = self._has_memory = False
        self._has_lines = False
        self._lines = LineMarks()
        self._notice_the_programs_profiler()
        os.register_at_fork(
            before=probes.guarded(_PROBE)(self._close_before_fork), after_in_child=self._leave_to_parent
        )

    def watch(
        self, compiled: Callable[..., Any], graph: int | None, compile_id: str, *, is_backward: bool = False
    ) -> Callable[..., Any]:
        """`compiled`, which runs under the graph's name while the window is open.

        The number of a backward's graph may not be known: its compile id says which one it is.
        """
        from torch._C._profiler import _RecordFunctionFast

        self._compiles += 1
        name = f"dynamo {'backward of ' if is_backward else ''}graph {graph or '-'} [{compile_id}]"

        def profiled_graph(*args: Any, **kwargs: Any) -> Any:
            if self._profiler is None:
                return compiled(*args, **kwargs)
            with _RecordFunctionFast(name):
                return compiled(*args, **kwargs)

        if hasattr(compiled, "_boxed_call"):  # it takes its arguments in a list, which it empties
            profiled_graph._boxed_call = compiled._boxed_call  # type: ignore[attr-defined]
        return profiled_graph

    def stepping(self, counted: Callable[..., Any], graph: int) -> Callable[..., Any]:
        """`counted`, each call of which may begin or end the window; what that takes is not the graph's."""

        def stepping_graph(*args: Any) -> Any:
            if self._state is not _State.OVER:
                self._step(graph)
            return counted(*args)

        return stepping_graph

    def finish(self) -> None:
        """At the end of the process: close what is open, and say what torch counted."""
        self._busy_since = perf_counter_ns()
        if self._state is _State.TIMES:
            self._why_no_lines = "the program ended before the step that they are taken in"
        elif self._state is _State.BETWEEN:
            self._why_no_lines = f"graph {self._anchor}, which begins a step, was not called again"
        self._close(is_last_step_whole=False)
        reason = self._why_none
        if reason is None and self._state is _State.LOOKING:
            reason = _State.LOOKING.value if self._compiles else "nothing was compiled"
            if self._is_called_elsewhere and not self._steady:
                reason = "compiled graphs were called in other threads than the main one only"
        self._state = _State.OVER
        self._record(
            WindowNoted(
                kind="end",
                why_none=reason,
                why_no_lines=self._why_no_lines,
                cuda_graphs=_cuda_graph_counters(),
            )
        )

    def _step(self, graph: int) -> None:
        if threading.get_ident() != self._thread:
            self._is_called_elsewhere = True
            return
        start = self._busy_since = perf_counter_ns()
        try:
            self._called(graph)
        except BaseException as error:
            self._abandon()
            if not isinstance(error, Exception) or _is_the_programs(error):
                raise
            self._probes.failed(_PROBE, error)
        finally:
            self._own_ns += perf_counter_ns() - start
            self._busy_since = 0

    def _called(self, graph: int) -> None:
        now, before = perf_counter_ns(), self._called_ns.get(graph)
        self._called_ns[graph] = now
        if before is not None and self._profiler is None:
            self._step_s = (now - before) / 1e9
        if self._state is _State.LOOKING:
            if self._is_steady(graph):
                self._open(_State.TIMES, graph)
        elif graph == self._anchor:
            self._anchor_calls += 1
            if self._state is _State.TIMES and self._anchor_calls > _WARM_UP_STEPS + self._steps_wanted:
                self._close(is_last_step_whole=True)
                self._state = _State.BETWEEN
            elif self._state is _State.BETWEEN:
                self._open(_State.LINES, graph)
            elif self._state is _State.LINES and self._anchor_calls > 1:
                self._close(is_last_step_whole=True)
                self._state = _State.OVER

    def _abandon(self) -> None:
        """Something of ours failed: end what is open, for a profiler that nobody stops crashes at exit."""
        profiler, self._profiler = self._profiler, None
        self._state = _State.OVER
        self._why_no_lines = self._why_no_lines or "the profiler failed"
        self._deadline.cancel()
        self._lines.leave(sys._getframe())
        try:
            if profiler is not None:
                warnings_of_c10_quiet.enter()
                profiler.stop()
        except Exception as error:  # it had been stopped, or never started
            if _is_the_programs(error):
                raise
        finally:
            warnings_of_c10_quiet.leave()

    def _time_is_up(self) -> None:
        """The anchor has not been called again for long. Runs in the main thread, wherever that is."""
        if self._profiler is None or self._busy_since:
            return
        self._busy_since = start = perf_counter_ns()
        reason = "the graph that begins a step was no longer called, and the profiler was stopped"
        if self._state is _State.TIMES:
            self._why_none = reason
        else:
            self._record(WindowNoted(kind=self._state.value, error=reason))
        self._abandon()
        self._own_ns += perf_counter_ns() - start
        self._busy_since = 0

    def _is_steady(self, graph: int) -> bool:
        compiles, steps = self._steady.get(graph, (-1, 0))
        steps = steps + 1 if compiles == self._compiles else 0
        self._steady[graph] = (self._compiles, steps)
        return steps >= _STEADY_STEPS

    def _open(self, state: _State, anchor: int) -> None:
        import torch
        from torch.profiler import ProfilerActivity, profile

        if torch._C._autograd._profiler_enabled():
            self._give_way()
            return
        has_device = self._has_device = torch.cuda.is_initialized()
        if has_device and torch.cuda.is_current_stream_capturing():
            return  # the next step will do
        has_lines = state is _State.LINES
        activities = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * has_device
        self._has_memory = has_lines and warnings_of_c10_quiet.enter()
        profiler = profile(
            activities=activities,
            record_shapes=has_device and _bytes_are_known(),
            profile_memory=self._has_memory,
        )
        self._is_starting = True
        self._profiler = profiler  # from here on it is stopped if anything goes wrong
        try:
            with profiler_quiet():
                profiler.start()
        finally:
            self._is_starting = False
        self._state, self._anchor, self._anchor_calls = state, anchor, 1
        self._compiles_at_open, self._opened_ns = self._compiles, time_ns()
        self._record(WindowNoted(kind="opened", what=state.value, anchor=anchor))
        self._has_lines = has_lines and self._lines.enter(sys._getframe())
        steps = _SLOWEST_LINES_STEP if has_lines else 3 * (_WARM_UP_STEPS + self._steps_wanted)
        self._deadline.set(_LEAST_PATIENCE_S + steps * self._step_s)

    def _close(self, *, is_last_step_whole: bool) -> None:
        """Stop and export, in the thread that started; elsewhere it is too late."""
        profiler = self._profiler
        if profiler is None or self._anchor is None:
            return
        self._deadline.cancel()
        noted = WindowNoted(
            kind=self._state.value,
            anchor=self._anchor,
            warm_up_steps=_WARM_UP_STEPS if self._state is _State.TIMES else 0,
            is_last_step_whole=is_last_step_whole,
            compiles=self._compiles - self._compiles_at_open,
            has_device=self._has_device,
            has_memory=self._has_memory,
            has_lines=self._has_lines,
            can_mark_lines=CAN_MARK_LINES,
            begin_ns=self._opened_ns,
            end_ns=time_ns(),
        )
        if threading.get_ident() != self._thread:
            noted.error = "it was still open in another thread at the end"
            self._record(noted)
            return
        self._lines.leave(sys._getframe())
        profiler.stop()
        self._profiler = None
        warnings_of_c10_quiet.leave()
        if self._state is _State.TIMES and not is_last_step_whole and self._anchor_calls < _WARM_UP_STEPS + 2:
            noted.error = "no whole step in it"
            self._record(noted)
            return
        name = f"{PROFILE_PREFIX}{getpid()}_{self._state.value}_{self._opened_ns}{PROFILE_SUFFIX}"
        plain = f"{self._folder}/{name}.new"
        try:
            with FileSizeSignalBlocked():
                profiler.export_chrome_trace(plain)
                compress(plain, f"{self._folder}/{name}")
        except Exception as error:
            noted.error = f"{type(error).__name__}: {error}"
            self._record(noted)
            if _is_the_programs(error):
                raise
            return
        finally:
            profiler.profiler.kineto_results = None  # it is large, and in a cycle that waits to be collected
        noted.file = name
        self._record(noted)

    def _notice_the_programs_profiler(self) -> None:
        """Only one profiler can run. Where the program starts one, ours ends first and does not come back."""
        from torch.autograd import profiler

        def before(original: Callable[..., Any]) -> Callable[..., Any]:
            def start(*args: Any, **kwargs: Any) -> Any:
                if not self._is_starting:
                    self._give_way_harmlessly()
                return original(*args, **kwargs)

            return start

        self._give_way_harmlessly = self._probes.guarded(_PROBE)(self._give_way)
        for name in ("_prepare_profiler", "_run_on_profiler_start"):
            setattr(profiler, name, before(getattr(profiler, name)))

    def _give_way(self) -> None:
        if self._state is not _State.OVER:
            self._why_none = self._why_no_lines = "the program uses torch.profiler itself"
            self._close(is_last_step_whole=False)
            self._state = _State.OVER

    def _close_before_fork(self) -> None:
        """A child must not inherit a profiler at work. The window opens anew if no step was complete."""
        if self._profiler is None or threading.get_ident() != self._thread:
            return
        has_steps = self._state is _State.LINES or self._anchor_calls > _WARM_UP_STEPS + 1
        self._close(is_last_step_whole=False)
        self._forks += 1
        self._state = _State.OVER if has_steps or self._forks == _MOST_FORKS else _State.LOOKING
        if has_steps:
            self._why_no_lines = "the program forked a process before the step that they are taken in"

    def _leave_to_parent(self) -> None:
        self._state, self._profiler = _State.OVER, None
        self._why_none = "a forked process leaves the window to its parent"

    def _taken_ns(self) -> int:
        """What our own part has taken until now."""
        return self._own_ns + (perf_counter_ns() - self._busy_since if self._busy_since else 0)

    def _record(self, noted: WindowNoted) -> None:
        noted.own_ns = self._taken_ns()  # what it took to stop and export is in it
        self._probes.stream.record(noted)


def _is_the_programs(error: BaseException) -> bool:
    """Whether it was raised in the program's own code, which runs in here where a signal has a handler."""
    traceback = error.__traceback__
    while traceback is not None:
        if is_own(traceback.tb_frame.f_code.co_filename):
            return True
        traceback = traceback.tb_next
    return False


def _bytes_are_known() -> bool:
    """Whether Inductor tells its kernels how much they move; the profiler then has it from their arguments.

    Source: torch/_inductor/codegen/triton.py (kernel_num_gb), 2.13.
    """
    config = sys.modules.get("torch._inductor.config")
    return config is not None and bool(config.profile_bandwidth or config.benchmark_kernel)


def _cuda_graph_counters() -> dict[str, int] | None:
    """What Inductor counted of CUDA graphs; None where it was never loaded or no device was used.

    Source: torch/_inductor/cudagraph_utils.py (log_cudagraph_skip_and_bump_counter), cudagraph_trees.py
    (CUDAGraphNode, CUDAGraphTreeManager.num_rerecord), 2.13.
    """
    utils = sys.modules.get("torch._dynamo.utils")
    import torch

    if utils is None or not torch.cuda.is_initialized():
        return None
    inductor = utils.counters["inductor"]
    counted = {name: int(inductor[name]) for name in list(inductor) if name.startswith("cudagraph_")}
    counted.setdefault("cudagraph_skips", 0)
    return counted
