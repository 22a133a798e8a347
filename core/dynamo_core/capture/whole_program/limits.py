"""Limits on compiling captured frames: on tracing, and on the time in a backend.

Tracing of a frame ends when it takes too long, makes too many ops, or unrolls a loop. Dynamo traces a loop
pass by pass, so that a loop over time steps, or one that generates tokens, becomes one graph that holds all
of its passes. A pass that adds no parameter to the graph repeats an earlier one: after a number of those the
frame runs in eager, and the functions that it calls are captured by themselves. A loop over layers adds each
layer's parameters and is traced to its end.

Only frames that whole-program capture takes are limited: `limited` is entered around those alone.

Source: torch/_dynamo/symbolic_convert.py (BytecodeDispatchTableMeta, InstructionTranslatorBase.run and jump),
torch/_dynamo/exc.py (SkipFrame), torch/_dynamo/output_graph.py (SubgraphTracer.input_name_to_proxy). Run with
2.13. A SkipFrame counts in torch neither as a graph break nor as a failure: the frame stays in eager.
"""

import opcode
import signal
import sys
import threading
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from ...shared.settings import Settings
from ..primitives import thread_time_ns
from ..probe_guard import ProbeGuard
from ..torch_versions import makes_breaks_of_skips

if TYPE_CHECKING:
    from torch._dynamo.bytecode_transformation import Instruction
    from torch._dynamo.symbolic_convert import InstructionTranslatorBase

# Repeated passes that add no more ops than this in all are traced, however many they are: they cost little.
_OPS_FOLLOWED_ANYWAY = 200


class LimitMet:
    """The limit that was met (its option), the reason in words, and the code of the loop, if it was one."""

    def __init__(self, limit: str, reason: str, code: CodeType | None = None) -> None:
        self.limit = limit
        self.reason = reason
        self.code = code


class _Frame:
    """A frame that is being traced under limits."""

    def __init__(self) -> None:
        self.began_ns = thread_time_ns()
        self.limit_met: LimitMet | None = None


class _Loop:
    """A loop in one traced call of a function: the graph's size at its last pass, and its repeated passes."""

    __slots__ = ("inputs", "nodes", "repeated_ops", "repeated_passes")

    def __init__(self, nodes: int, inputs: int) -> None:
        self.nodes, self.inputs = nodes, inputs
        self.repeated_passes = self.repeated_ops = 0


class TracingLimits:
    """The limits on tracing in this process; None for a limit that is switched off."""

    def __init__(self, settings: Settings, probes: ProbeGuard) -> None:
        self._seconds = settings.trace_limit
        self._ops = settings.op_limit
        self._passes = settings.loop_limit
        self._probes = probes
        self._thread = threading.local()

    @contextmanager
    def limited(self) -> Iterator[_Frame]:
        """Limit what this thread traces in this context; the frame's `limit_met` says which limit was met."""
        before = getattr(self._thread, "frame", None)
        self._thread.frame = frame = _Frame()
        try:
            yield frame
        finally:
            self._thread.frame = before

    def limit_met(self) -> LimitMet | None:
        """The limit that this thread's current frame has met; None if it has met none."""
        frame = getattr(self._thread, "frame", None)
        return None if frame is None else frame.limit_met

    def fall_back(self, limit: str, reason: str) -> None:
        """Let this thread's current frame fall back to eager, for a limit met after tracing it."""
        frame = getattr(self._thread, "frame", None)
        if frame is not None:
            frame.limit_met = LimitMet(limit, reason)

    @property
    def is_limited(self) -> bool:
        """Whether this thread compiles a frame that has limits."""
        return getattr(self._thread, "frame", None) is not None

    def install(self, symbolic_convert: ModuleType) -> None:
        """Check the limits where a function is inlined, and where a loop begins its next pass."""
        for translator_class in vars(symbolic_convert).copy().values():
            if not isinstance(translator_class, type):
                continue
            if "dispatch_table" in vars(translator_class):
                self._check_at_jumps(translator_class)
            if "run_ctx_mgr" in vars(translator_class):
                self._check_at_calls(translator_class)
        if makes_breaks_of_skips():
            self._check_at_breaks(symbolic_convert.InstructionTranslator)

    def _check_at_calls(self, translator_class: Any) -> None:
        from torch._dynamo.exc import SkipFrame

        def run_ctx_mgr(proceed: Callable[..., Any], translator: "InstructionTranslatorBase") -> Any:
            self._check(translator, None)
            return proceed(translator)

        self._probes.hook(translator_class, "run_ctx_mgr", "tracing limits", run_ctx_mgr, SkipFrame)

    def _check_at_breaks(self, translator_class: Any) -> None:
        """Let the frame itself be skipped where a function that it inlines has met a limit."""
        from torch._dynamo.exc import SkipFrame

        def should_compile_partial_graph(
            proceed: Callable[..., Any], translator: "InstructionTranslatorBase"
        ) -> Any:
            met = self.limit_met()
            if met is not None:
                raise SkipFrame(met.reason)
            return proceed(translator)

        method = "should_compile_partial_graph"
        self._probes.hook(translator_class, method, "tracing limits", should_compile_partial_graph, SkipFrame)

    def _check_at_jumps(self, translator_class: Any) -> None:
        def checked(jump: Any) -> Any:
            def checked_jump(translator: "InstructionTranslatorBase", instruction: "Instruction") -> Any:
                self._check(translator, instruction)
                return jump(translator, instruction)

            return checked_jump

        table = translator_class.dispatch_table = list(translator_class.dispatch_table)
        for code in _backward_jumps():
            if table[code] is not None:
                table[code] = checked(table[code])

    def _check(self, translator: "InstructionTranslatorBase", instruction: "Instruction | None") -> None:
        """Raise torch's SkipFrame where a limit is met."""
        frame: _Frame | None = getattr(self._thread, "frame", None)
        if frame is None:
            return
        if frame.limit_met is None:
            frame.limit_met = self._probes.guarded("tracing limits")(self._limit_met_by)(
                frame, translator, instruction
            )
        if frame.limit_met is not None:
            from torch._dynamo.exc import SkipFrame

            raise SkipFrame(frame.limit_met.reason)

    def _limit_met_by(
        self, frame: _Frame, translator: "InstructionTranslatorBase", instruction: "Instruction | None"
    ) -> LimitMet | None:
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
        if self._passes is None or instruction is None or not _jumps_backward(translator, instruction):
            return None
        loop = self._count_pass(translator, instruction)
        if loop.repeated_passes <= self._passes or loop.repeated_ops <= _OPS_FOLLOWED_ANYWAY:
            return None
        line = getattr(translator, "lineno", None) or code.co_firstlineno
        return LimitMet(
            "--loop-limit",
            f"a loop in {code.co_name} ({code.co_filename}:{line}) does the same again more than "
            f"{self._passes} times, which would all be unrolled into one graph; what it calls may be "
            f"compiled instead (--loop-limit {self._passes})",
            code,
        )

    def _count_pass(self, translator: "InstructionTranslatorBase", instruction: "Instruction") -> _Loop:
        """The loop that the instruction jumps back to, after counting the pass that has just ended."""
        loops: dict[Any, _Loop] = translator.__dict__.setdefault("dynamo_run_loops", {})
        assert instruction.target is not None  # it jumps
        target = translator.indexof[instruction.target]
        nodes = len(translator.output.graph.nodes)
        inputs = translator.output.root_tracer.input_name_to_proxy
        loop = loops.get(target)
        if loop is None:
            # What the first pass added is not known; the later ones are enough.
            loops[target] = loop = _Loop(nodes, len(inputs))
        elif nodes > loop.nodes:
            new = list(inputs.values())[loop.inputs :]
            if not any(map(_is_parameter, new)):
                loop.repeated_passes += 1
                loop.repeated_ops += nodes - loop.nodes
        loop.nodes, loop.inputs = nodes, len(inputs)
        return loop


def _is_parameter(proxy: Any) -> bool:
    import torch

    argument = proxy.node.meta.get("grapharg")
    return isinstance(getattr(argument, "example", None), torch.nn.Parameter)


def _backward_jumps() -> list[int]:
    """The opcodes by which a loop begins its next pass; before Python 3.11 they may also jump forward."""
    either_way = sys.version_info < (3, 11)
    return [
        code
        for name, code in opcode.opmap.items()
        if "JUMP_BACKWARD" in name
        or (either_way and (name == "JUMP_ABSOLUTE" or name.startswith("POP_JUMP_IF")))
    ]


def _jumps_backward(translator: "InstructionTranslatorBase", instruction: "Instruction") -> bool:
    """Whether the instruction jumps backward: its target lies before the next instruction."""
    target, following = instruction.target, translator.instruction_pointer
    return target is not None and following is not None and translator.indexof[target] < following


_REPEAT_SIGNAL_AFTER = 1.0  # seconds; Python ignores an exception that is raised in a destructor, for example


class CompileLimitReached(BaseException):
    """The backend took too long. Not an Exception, so that no backend handles it as its own failure."""


class CompileLimit:
    """Ends a call of a backend that takes longer than a number of seconds (`--compile-limit`).

    A signal is sent to the main thread, and its handler raises there: that ends any running Python code, a
    sleep, or a wait for a C++ compiler. Code that stays in C (one long call of a library) ends when it
    returns to Python. Calls in other threads are not limited, nor is a backward that is compiled at its first
    call: its forward has already run.

    The signal is a real-time signal without a handler. If the program handles it, nothing is limited.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._signal = getattr(signal, "SIGRTMAX", 0) - 3

    def call(self, function: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """The result of `function`; raises CompileLimitReached if it takes too long."""
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
                seconds = _REPEAT_SIGNAL_AFTER
            has_stopped.release()

        signal.signal(self._signal, self._raise_if_in_call)
        try:
            start_new_thread(wait, ())
            return _call_with_limit(function, args, named)
        finally:
            is_over.release()
            has_stopped.acquire()
            # Ignored first, to discard a pending signal: with the default action it would end the process.
            signal.signal(self._signal, signal.SIG_IGN)
            signal.signal(self._signal, signal.SIG_DFL)

    def _can_limit(self) -> bool:
        return (
            sys.platform == "linux"
            and threading.current_thread() is threading.main_thread()
            and signal.getsignal(self._signal) is signal.SIG_DFL
        )

    def _raise_if_in_call(self, number: int, interrupted: FrameType | None) -> None:
        """Raise if the signal interrupts the limited call, and not if it comes after the call."""
        while interrupted is not None:
            if interrupted.f_code is _call_with_limit.__code__:
                raise CompileLimitReached(f"the backend took longer than {self.seconds:g} s")
            interrupted = interrupted.f_back


def _call_with_limit(function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    return function(*args, **named)
