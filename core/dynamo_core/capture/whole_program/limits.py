"""Give a frame up while it is traced: when tracing takes too long, makes too many ops, or unrolls a loop.

Dynamo follows a loop pass by pass, so that a loop over time steps, or one that generates tokens, becomes one
graph that holds all of its passes. A pass that brings no parameter into the graph does again what was done
before; so many of those are followed, then the frame runs eager, and what it calls is asked about on its own.
A loop over layers brings each layer's parameters and is followed to its end.

Only frames that whole-program capture takes are limited: `limited` is entered around those alone.

Source: torch/_dynamo/symbolic_convert.py (BytecodeDispatchTableMeta, InstructionTranslatorBase.run and jump),
torch/_dynamo/exc.py (SkipFrame), torch/_dynamo/output_graph.py (SubgraphTracer.input_name_to_proxy). Run with
2.13. Of a SkipFrame torch makes no graph break and no failure: the frame is left alone from then on.
"""

import opcode
import signal
import sys
import threading
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType, ModuleType
from typing import Any

from ...shared.early_records import FrameDeferred
from ...shared.settings import Settings
from ..primitives import process_time_ns, thread_time_ns
from ..probe_guard import ProbeGuard
from ..writing.occurrences import Occurrences
from ..writing.stream import Stream

# Passes that add this few ops in all are followed, however many they are: they cost next to nothing.
_OPS_FOLLOWED_ANYWAY = 200


class LimitMet:
    """Which limit was met (the option's name), the words for it, and the code that holds the loop, if any."""

    def __init__(self, limit: str, reason: str, code: CodeType | None = None) -> None:
        self.limit = limit
        self.reason = reason
        self.code = code


class _Frame:
    """The frame that is being traced."""

    def __init__(self) -> None:
        self.began_ns = thread_time_ns()
        self.limit_met: LimitMet | None = None


class _Loop:
    """One loop in one call of a function."""

    __slots__ = ("inputs", "nodes", "ops_again", "passes_again")

    def __init__(self, nodes: int, inputs: int) -> None:
        self.nodes, self.inputs = nodes, inputs
        self.passes_again = self.ops_again = 0


class TracingLimits:
    """The limits of one process; None for one that is switched off."""

    def __init__(self, settings: Settings, probes: ProbeGuard) -> None:
        self._seconds = settings.trace_limit
        self._ops = settings.op_limit
        self._passes = settings.loop_limit
        self._probes = probes
        self._thread = threading.local()

    @contextmanager
    def limited(self) -> Iterator[_Frame]:
        """What this thread traces in here has limits; `limit_met` of what this gives says which was met."""
        before = getattr(self._thread, "frame", None)
        self._thread.frame = frame = _Frame()
        try:
            yield frame
        finally:
            self._thread.frame = before

    def limit_met(self) -> LimitMet | None:
        """Which limit the frame that this thread has just traced has met."""
        frame = getattr(self._thread, "frame", None)
        return None if frame is None else frame.limit_met

    def fall_back(self, limit: str, reason: str) -> None:
        """The frame that this thread is at is given up, for what came after its tracing."""
        frame = getattr(self._thread, "frame", None)
        if frame is not None:
            frame.limit_met = LimitMet(limit, reason)

    @property
    def is_limited(self) -> bool:
        """Whether this thread is at a frame that has limits."""
        return getattr(self._thread, "frame", None) is not None

    def install(self, symbolic_convert: ModuleType) -> None:
        """Look at the limits where a function is inlined, and where a loop begins its next pass."""
        for kind in vars(symbolic_convert).copy().values():
            if not isinstance(kind, type):
                continue
            if "dispatch_table" in vars(kind):
                self._look_at_jumps(kind)
            if "run_ctx_mgr" in vars(kind):
                self._look_at_calls(kind)

    def _look_at_calls(self, kind: Any) -> None:
        original = kind.run_ctx_mgr

        def run_ctx_mgr(translator: Any) -> Any:
            self._look(translator, None)
            return original(translator)

        kind.run_ctx_mgr = run_ctx_mgr

    def _look_at_jumps(self, kind: Any) -> None:
        def looking(jump: Any) -> Any:
            def jump_after_a_look(translator: Any, instruction: Any) -> Any:
                self._look(translator, instruction)
                return jump(translator, instruction)

            return jump_after_a_look

        table = kind.dispatch_table = list(kind.dispatch_table)
        for code in _jumps_back():
            if table[code] is not None:
                table[code] = looking(table[code])

    def _look(self, translator: Any, instruction: Any) -> None:
        """Raise torch's SkipFrame where a limit is met."""
        frame: _Frame | None = getattr(self._thread, "frame", None)
        if frame is None:
            return
        if frame.limit_met is None:
            frame.limit_met = self._probes.guarded("tracing limits")(self._met)(
                frame, translator, instruction
            )
        if frame.limit_met is not None:
            from torch._dynamo.exc import SkipFrame

            raise SkipFrame(frame.limit_met.reason)

    def _met(self, frame: _Frame, translator: Any, instruction: Any) -> LimitMet | None:
        code: CodeType = translator.f_code
        seconds = (thread_time_ns() - frame.began_ns) / 1e9
        if self._seconds is not None and seconds > self._seconds:
            return LimitMet(
                "--trace-limit",
                f"tracing took more than {self._seconds:g} s of CPU time (--trace-limit {self._seconds:g})",
            )
        graph = translator.output.graph
        if (
            self._ops is not None
            and len(graph.nodes) > self._ops
            and translator.output.count_calls() > self._ops
        ):
            return LimitMet("--op-limit", f"its graph has more than {self._ops} ops (--op-limit {self._ops})")
        if self._passes is None or instruction is None or not _goes_back(translator, instruction):
            return None
        loop = self._after_a_pass(translator, instruction)
        if loop.passes_again <= self._passes or loop.ops_again <= _OPS_FOLLOWED_ANYWAY:
            return None
        line = getattr(translator, "lineno", None) or code.co_firstlineno
        return LimitMet(
            "--loop-limit",
            f"a loop in {code.co_name} ({code.co_filename}:{line}) does the same again more than "
            f"{self._passes} times, which would all be unrolled into one graph; what it calls is compiled "
            f"instead (--loop-limit {self._passes})",
            code,
        )

    def _after_a_pass(self, translator: Any, instruction: Any) -> _Loop:
        """The loop that the instruction begins again, with the pass that has just ended."""
        loops: dict[Any, _Loop] = translator.__dict__.setdefault("dynamo_run_loops", {})
        target = translator.indexof[instruction.target]
        nodes = len(translator.output.graph.nodes)
        inputs = translator.output.root_tracer.input_name_to_proxy
        loop = loops.get(target)
        if loop is None:
            # Also of the first pass it is not known what it added; the others tell enough.
            loops[target] = loop = _Loop(nodes, len(inputs))
        elif nodes > loop.nodes:
            new = list(inputs.values())[loop.inputs :]
            if not any(map(_is_parameter, new)):
                loop.passes_again += 1
                loop.ops_again += nodes - loop.nodes
        loop.nodes, loop.inputs = nodes, len(inputs)
        return loop


def _is_parameter(proxy: Any) -> bool:
    import torch

    argument = proxy.node.meta.get("grapharg")
    return isinstance(getattr(argument, "example", None), torch.nn.Parameter)


def _jumps_back() -> list[int]:
    """The instructions by which a loop goes on; before Python 3.11 those can also jump forward."""
    either_way = sys.version_info < (3, 11)
    return [
        code
        for name, code in opcode.opmap.items()
        if "JUMP_BACKWARD" in name
        or (either_way and (name == "JUMP_ABSOLUTE" or name.startswith("POP_JUMP_IF")))
    ]


def _goes_back(translator: Any, instruction: Any) -> bool:
    """Whether the target lies before what would come next."""
    return bool(translator.indexof[instruction.target] < translator.instruction_pointer)


# Compile no more than the program's own running time can pay for, plus an allowance.
#
# How often a frame will be called cannot be known. So a frame waits while compiling has taken longer than the
# program without it, by more than the allowance: whatever the program does, capture then costs at most about
# as much as the program itself, plus the allowance and one compile. A frame that has waited is asked about
# again when it is called again.
#
# Time is CPU time of this process, which does not depend on what else the machine does. What Inductor's own
# processes take for C++ is not in it; it is about as much again.


class Budget:
    """The CPU time that compiling has taken, on all threads, beside that of the whole process."""

    def __init__(self, allowance: float | None, stream: Stream) -> None:
        self._allowance_ns = None if allowance is None else int(allowance * 1e9)
        self._began_ns = process_time_ns()
        self._spent_ns = 0
        self._deferred = Occurrences(stream, FrameDeferred)

    @contextmanager
    def spending(self) -> Iterator[None]:
        """What happens in here is compiling."""
        began_ns = thread_time_ns()
        try:
            yield
        finally:
            self._spent_ns += thread_time_ns() - began_ns

    def defers(self, code: CodeType) -> bool:
        """Whether a frame has to wait, which is recorded."""
        if self._allowance_ns is None or self._spent_ns <= self._allowance_ns:
            return False
        if 2 * self._spent_ns <= self._allowance_ns + process_time_ns() - self._began_ns:
            return False
        where = {"name": code.co_name, "file": code.co_filename, "line": code.co_firstlineno}
        self._deferred.add(tuple(where.values()), lambda: where)
        return True

    def finish(self) -> None:
        """The process ends: write the counts that are not written yet."""
        self._deferred.finish()


# Give a compile up that stays in the backend for too long (`--compile-limit`), and run its frame eager.
#
# A signal is sent to the thread that compiles, and its handler raises there: it ends whatever Python code is
# running, a sleep, or a wait for a C++ compiler. Code that stays in C (one long call of a library) is ended
# when it returns to Python. Only the main thread can be signalled; in others nothing is limited. Nor is a
# backward that is compiled when it is first called: the forward that it belongs to has been run.
#
# The signal is a real-time one that nobody handles; where the program handles it, nothing is limited.


_AGAIN_AFTER = 1.0  # seconds; what is raised in a destructor, say, is printed and forgotten


class CompileLimitReached(BaseException):
    """Not an Exception, so that no backend takes it for a failure of its own."""


class CompileLimit:
    """Bounds calls to so many seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._signal = getattr(signal, "SIGRTMAX", 0) - 3

    def call(self, function: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """What `function` returns, or CompileLimitReached."""
        if not self._can_limit():
            return function(*args, **named)
        main = threading.main_thread().ident
        is_over, has_stopped = allocate_lock(), allocate_lock()
        is_over.acquire()
        has_stopped.acquire()

        def wait() -> None:
            seconds = self.seconds
            while not is_over.acquire(True, seconds):
                signal.pthread_kill(main, self._signal)  # type: ignore[arg-type]
                seconds = _AGAIN_AFTER
            has_stopped.release()

        signal.signal(self._signal, self._stop)
        try:
            start_new_thread(wait, ())
            return _limited(function, args, named)
        finally:
            is_over.release()
            has_stopped.acquire()
            # Ignored first, which forgets one that is on its way: it would end the process.
            signal.signal(self._signal, signal.SIG_IGN)
            signal.signal(self._signal, signal.SIG_DFL)

    def _can_limit(self) -> bool:
        return (
            sys.platform == "linux"
            and threading.current_thread() is threading.main_thread()
            and signal.getsignal(self._signal) is signal.SIG_DFL
        )

    def _stop(self, number: int, interrupted: FrameType | None) -> None:
        """Raise in the limited call, and not in what comes after it."""
        while interrupted is not None:
            if interrupted.f_code is _limited.__code__:
                raise CompileLimitReached(f"the backend took longer than {self.seconds:g} s")
            interrupted = interrupted.f_back


def _limited(function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    return function(*args, **named)
