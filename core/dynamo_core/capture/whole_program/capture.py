"""Compile a program that does not compile for itself: a policy in front of Dynamo's frame callback.

Source: torch/_dynamo/eval_frame.py (_TorchDynamoContext, set_eval_frame), torch/_dynamo/convert_frame.py
(CatchErrorsWrapper, ConvertFrameReturn), torch/_dynamo/types.py. Run with 2.8, 2.13 and 2.15.
Of Inductor: torch/_inductor/compile_fx.py (fx_codegen_and_compile), 2.13.
"""

import os
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...shared.early_records import CaptureDecision
from ...shared.settings import FULLGRAPH_FIRST, SEMANTICS_EAGER, Settings
from ..errors import NotCompiled
from ..frames.callback import Answers, FrameCallback
from ..frames.program_files import (
    CompileCalls,
    cells_of_program,
    own_modules,
    place_of_compile_call,
    place_of_compile_call_in_progress,
)
from ..frames.source import CodeObjects, is_resumed
from ..import_hook import import_hook
from ..imports import import_later
from ..interventions.compile_arguments import optimize_context
from ..probe_guard import ProbeGuard
from .budget import Budget, CompileDeferred
from .limits import CompileLimit, CompileLimitReached, TracingLimits
from .policy import NEVER, NEVER_BELOW, NOT_NOW, TAKE, Policy, is_torch_module_file
from .warnings_of_compiling import compiling_warns_of_nothing

if TYPE_CHECKING:
    from torch._dynamo.output_graph import OutputGraph
    from torch._dynamo.types import DynamoFrameType
    from torch.fx import GraphModule

    from ...backends.compilers import Tell
    from ..eager_semantics.keeper import Keeper
    from ..interventions.verified_frame import FrameVerifier
    from ..interventions.verified_program import ProgramVerifier

# A function that was given no tensor this often is left alone: asking costs some 10 µs a call.
_PATIENCE = 50
_SIDE_EFFECTS = "dynamo_core.capture.whole_program.side_effects"
_EAGER_SEMANTICS = "dynamo_core.capture.eager_semantics.keeper"
_VERIFIED_FRAME = "dynamo_core.capture.interventions.verified_frame"
_PATIENCE_KEY = "dynamo_run_calls_without_tensor"


class WholeProgramCapture:
    """Takes frames of the whole process, until the program turns out to compile for itself."""

    def __init__(self, settings: Settings, probes: ProbeGuard, tell: "Tell", limits: TracingLimits) -> None:
        self._settings = settings
        self._tell = tell
        self._probes = probes
        self._limits = limits
        self._budget = Budget(settings.capture_budget, probes.stream)
        self._policy = Policy(settings.capture)
        self._frames = FrameCallback(self._frame_callback, probes)
        self._dynamo_callback: Callable[..., Any] | None = None
        self.is_loading = False  # Dynamo, whose converter is then made for what we capture
        self._lock = threading.RLock()
        self._taking = threading.local()
        self._files_scanned: set[str] = set()
        self._compile_calls = CompileCalls()
        # A backend's own file may compile something for itself, which says nothing of the program.
        self._backend_modules = {choice.module for choice in settings.choices() if choice.is_function}
        self._codes_decided = CodeObjects()  # what C++ remembers for good, and may have to take back
        self._restore_settings: list[Callable[[], None]] = []
        self._keeper: Keeper | None = None
        self._frame_verifier: FrameVerifier | None = None

    def verify(self, verifier: "ProgramVerifier") -> None:
        """Have calls of captured frames compared with plain Python (`--verify`)."""
        (verified_frame,) = import_later(_VERIFIED_FRAME)
        self._frame_verifier = verified_frame.FrameVerifier(
            verifier, self._frames.again, self._policy.leave_to_eager
        )

    def keeper(self) -> "Keeper | None":
        """What keeps eager's semantics for the graphs that are compiled now; None where nothing does."""
        return self._keeper if self._frames.is_active else None

    def begin(self) -> None:
        """Offer frames to the policy from now on, unless the settings or the program's code say not to."""
        capture = self._settings.capture
        if capture == "none":
            self._decide("observe", "--capture none")
            return
        for switch in ("TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE"):
            if os.environ.get(switch) == "1":
                self._decide("observe", f"{switch}=1")
                return
        if capture == "auto":
            place = _own_compile_call_in_main() or self._own_compile_call_in_new_files()
            if place is not None:
                self._decide("observe", f"{place} calls torch.compile")
                return
            self._watch_for_compile_calls()
        self._decide("capture", None)
        import_hook.when_imported(
            "torch._dynamo.symbolic_convert",
            self._probes.guarded("tracing limits")(self._limits.install),
        )
        import_hook.when_imported(
            "torch._dynamo.output_graph", self._probes.guarded("limits on backends")(self._limit_backends)
        )
        import_hook.when_imported(
            "torch._inductor.compile_fx", self._probes.guarded("limits on backends")(self._count_backwards)
        )
        self._frames.enter()

    def _count_backwards(self, compile_fx: Any) -> None:
        """Count in the budget what Inductor compiles outside of a frame: backwards, at their first call."""

        def fx_codegen_and_compile(proceed: Callable[..., Any], *args: Any, **named: Any) -> Any:
            if self._limits.is_limited:
                return proceed(*args, **named)
            return self._budget.compile_backward(lambda: proceed(*args, **named))

        self._probes.hook(compile_fx, "fx_codegen_and_compile", "limits on backends", fx_codegen_and_compile)

    def _limit_backends(self, output_graph: Any) -> None:
        seconds = self._settings.compile_limit
        limit = None if seconds is None else CompileLimit(seconds)
        has_budget = self._may_use_inductor()  # other backends are quick, or unknown

        def call_user_compiler(
            proceed: Callable[..., Any], graph: "OutputGraph", gm: "GraphModule", *rest: Any
        ) -> Any:
            def call() -> Any:
                return proceed(graph, gm, *rest) if limit is None else limit.call(proceed, graph, gm, *rest)

            if not self._limits.is_limited:
                return proceed(graph, gm, *rest)
            code = getattr(self._taking, "code", None)
            ops = sum(node.op.startswith("call_") for node in gm.graph.nodes)
            try:
                return self._budget.call_backend(code, ops, call) if has_budget and code else call()
            except CompileDeferred as error:
                # torch has counted the ops already (compile_and_call_fx_graph) of a graph that is not made.
                sys.modules["torch._dynamo.utils"].counters["stats"]["calls_captured"] -= ops
                self._limits.fall_back("--capture-budget", f"{error} (--capture-budget)")
                raise
            except CompileLimitReached as error:
                self._limits.fall_back("--compile-limit", f"{error} (--compile-limit {seconds:g})")
                raise

        self._probes.hook(
            output_graph.OutputGraph, "call_user_compiler", "limits on backends", call_user_compiler
        )

    def finish(self) -> None:
        """The process ends."""
        self._budget.finish()

    def _decide(self, decision: str, because: str | None) -> None:
        settings = self._settings
        self._probes.stream.record(
            CaptureDecision(
                decision=decision,
                because=because,
                policy=settings.capture,
                backend=settings.backend,
                fallback_random=decision == "capture" and self._may_use_inductor(),
                raises=self._raises(),
            )
        )

    def _raises(self) -> bool:
        """Whether an error in the compiler shall reach the program, instead of running the frame eager."""
        return self._settings.strict or self._settings.fullgraph == FULLGRAPH_FIRST

    def _may_use_inductor(self) -> bool:
        return any(choice.name in ("inductor", "autotuned") for choice in self._settings.choices())

    def _frame_callback(self) -> Callable[..., Any]:
        """What C++ asks about every frame that it has no answer for yet."""
        answer = Answers()
        by_verdict = {NEVER: answer.never, NEVER_BELOW: answer.never_below, NOT_NOW: answer.not_now}

        def unless_left(given: Any) -> Any:
            """Called last: another thread may have stopped the capture and taken back what was decided."""
            return given if self._frames.is_active else answer.not_now_below

        def callback(frame: "DynamoFrameType", cache_entry: Any, frame_state: Any) -> Any:
            try:
                if not self._frames.is_active or _is_stance_force_eager():
                    return answer.not_now_below
                verdict = self._verdict(frame, frame_state)
                if verdict != TAKE:
                    return unless_left(by_verdict[verdict])
                if not is_resumed(frame.f_code):
                    if self._budget.defers(frame.f_code):
                        return answer.deferred
                    if self._budget.is_too_large(frame.f_code):
                        return answer.not_now
                with self._budget.spending(), compiling_warns_of_nothing():
                    is_ready = self._is_ready_to_take()
                if not is_ready or self._dynamo_callback is None:
                    return answer.not_now_below
                self._taking.code = frame.f_code
            except Exception as error:
                self._probes.failed("capture policy", error)
                return unless_left(answer.never)
            try:
                with (
                    compiling_warns_of_nothing(),
                    self._limits.limited() as traced,
                    self._budget.spending(),
                ):
                    result, is_usable = self._compile(frame, cache_entry, frame_state)
                if traced.limit_met is not None:
                    self._policy.leave_to_eager(frame.f_code, traced.limit_met.code or frame.f_code)
                if not is_usable:
                    self._policy.leave_to_eager(frame.f_code)
                    return unless_left(answer.never)
                if result.guarded_code is None:
                    return unless_left(result)
                if self._frame_verifier is not None:
                    backend = self._frames.callback._torchdynamo_orig_backend
                    self._frame_verifier.watch(frame, result.guarded_code, backend)
                return result
            except CompileDeferred:
                return unless_left(answer.not_now)
            except CompileLimitReached:
                self._policy.leave_to_eager(frame.f_code)
                return unless_left(answer.never)
            except Exception as error:
                if not (self._raises() or isinstance(error, NotCompiled)):
                    return unless_left(answer.never)  # The frame's record has the error.
                # C++ has taken the callback off this thread, and does not put it back after an error: the
                # program may catch that, and is to be compiled as before.
                self._frames.enter_this_thread()
                raise
            finally:
                self._taking.code = None

        return callback

    def _compile(self, *given: Any) -> tuple[Any, bool]:
        """Dynamo's answer for a frame, and whether it can be used."""
        assert self._dynamo_callback is not None
        if self._keeper is None:
            return self._dynamo_callback(*given), True
        return self._keeper.compile_frame(self._dynamo_callback, *given)

    def _verdict(self, frame: "DynamoFrameType", frame_state: dict[Any, Any]) -> str:
        """The policy's verdict, but NEVER once it has been NOT_NOW too often."""
        verdict = self._policy.verdict(frame)
        if verdict == NOT_NOW:
            calls = frame_state[_PATIENCE_KEY] = frame_state.get(_PATIENCE_KEY, 0) + 1
            if calls >= _PATIENCE:
                verdict = NEVER
        if verdict != NOT_NOW and self._settings.capture == "auto":
            self._codes_decided.add(frame.f_code)
        return verdict

    def _is_ready_to_take(self) -> bool:
        """Before each frame taken: whether the program still does not compile for itself.

        Before the first, load Dynamo: not earlier, so that what the program sets after `import torch` (its
        environment variables for Inductor, say) finds torch's compiler not yet configured.
        """
        with self._lock:
            if self._settings.capture == "auto":
                place = self._own_compile_call_in_new_files()
                if place is not None:
                    self._stop_because(f"{place} calls torch.compile")
                    return False
            if self._dynamo_callback is None:
                self.is_loading = True
                try:
                    self._dynamo_callback = self._load_dynamo()
                except (Exception, SystemExit) as error:  # a bad backend or option, as torch words it
                    self._frames.leave()
                    self._decide("failed", f"{type(error).__name__}: {error}")
                    return False
                finally:
                    self.is_loading = False
            return True

    def _load_dynamo(self) -> Callable[..., Any]:
        """Dynamo's own callback for our settings; C++ finds cache entries by the backend behind it."""
        os.getcwd()  # without one the next import fails half-way, and what it leaves is noisy at exit
        from torch._dynamo import convert_frame

        (side_effects,) = import_later(_SIDE_EFFECTS)
        keeps_semantics = self._settings.semantics == SEMANTICS_EAGER
        validate_as_before = side_effects.keep_validating_distributions() if keeps_semantics else None
        context = optimize_context(self._settings, self._tell)
        if validate_as_before is not None:
            validate_as_before()
        # What `dynamic=True` and the like change in torch's settings; each returns its undoing.
        self._restore_settings = [enter() for enter in context.enter_exit_hooks]
        if self._may_use_inductor():
            self._restore_settings.append(side_effects.draw_random_numbers_as_eager_does())
        self._restore_settings.append(side_effects.let_globals_be_cleared())
        if "TORCH_LOGS" not in os.environ:
            self._restore_settings.append(side_effects.silence_compiler_warnings())
        if keeps_semantics:
            self._restore_settings.append(side_effects.compile_as_eager_computes())
            (keeper,) = import_later(_EAGER_SEMANTICS)
            if self._may_use_inductor():
                self._restore_settings += [side_effects.keep_checks_of_values(), keeper.read_before_writing()]
            self._keeper = keeper.Keeper(
                self._probes,
                self._policy.leave_to_eager,
                self._limits.fall_back,
                may_skip=self._settings.fullgraph is None,
            )
        self._let_torchs_own_modules_in()
        # Dynamo leaves everything below its own file out of the stacks that it reports.
        callback = self._frames.callback
        callback.__code__ = callback.__code__.replace(co_filename=convert_frame.__file__)
        # From torch 2.9 on. Before, C++ looks for a backend behind the callback ahead of calling it: one that
        # appears only now would make it compile the first frame twice.
        callback._torchdynamo_orig_backend = context.callback
        dynamo_callback: Callable[..., Any] = context.callback
        return dynamo_callback

    def _let_torchs_own_modules_in(self) -> None:
        """Dynamo skips frames of torch's own files; `torch.compile(nn.Sequential(…))` puts one around them.

        Source: torch/_dynamo/trace_rules.py (check), torch/_dynamo/eval_frame.py
        (OptimizedModule._initialize, wrap_inline).
        """
        from torch._dynamo import trace_rules

        original = trace_rules.check

        def check(thing: Any, *args: Any, **named: Any) -> bool:
            code = getattr(self._taking, "code", None)
            if code is not None and thing is code and is_torch_module_file(code.co_filename):
                return False
            return bool(original(thing, *args, **named))

        trace_rules.check = check  # type: ignore[assignment]

    def _own_compile_call_in_new_files(self) -> str | None:
        new = []
        for name, file in own_modules().items():
            is_backends = name != "__main__" and not self._backend_modules.isdisjoint((name, file))
            if file not in self._files_scanned and not is_backends:
                self._files_scanned.add(file)
                new.append(file)
        return self._compile_calls.place_in_files(new)

    def _stop_because(self, reason: str) -> None:
        """Leave the program to its own torch.compile, as if we had decided and changed nothing.

        Beside other threads, what was compiled until then still counts for torch's recompile limit.
        """
        with self._lock:
            if not self._frames.is_active:
                return
            self._frames.leave()
            self._take_back_decisions()
            for restore in self._restore_settings:
                restore()
            self._restore_settings.clear()
            self._decide("observe", reason)

    def _take_back_decisions(self) -> None:
        """Dynamo looks at all code again, and has compiled none of it.

        Where C++ is about to ask about a code object, or waits for the answer, it holds a pointer to what
        `reset_code` frees (extra_state.cpp; a double free with torch 2.13 on Python 3.11). So while there are
        other threads, only "never" is taken back, and what was compiled stays until torch forgets it.
        """
        from torch._C._dynamo.eval_frame import (
            _FrameAction,
            _FrameExecStrategy,
            reset_code,
            set_code_exec_strategy,
        )

        ask_again = _FrameExecStrategy(_FrameAction.DEFAULT, _FrameAction.DEFAULT)
        is_only_thread = threading.active_count() == 1
        being_compiled = getattr(self._taking, "code", None)
        for code in self._codes_decided.alive():
            if is_only_thread and code is not being_compiled:
                reset_code(code)
            else:
                set_code_exec_strategy(code, ask_again)

    def _watch_for_compile_calls(self) -> None:
        """Stop when the program, or a library for it, calls torch.compile or `module.compile()` after all."""

        def wrap_optimize(eval_frame: Any) -> None:
            original = eval_frame._optimize

            def _optimize(*args: Any, **named: Any) -> Any:
                if self._frames.is_active and not self.is_loading:
                    place = place_of_compile_call_in_progress()
                    if place is not None:
                        self._stop_because(f"{place} calls torch.compile")
                return original(*args, **named)

            eval_frame._optimize = _optimize

        import_hook.when_imported(
            "torch._dynamo.eval_frame", self._probes.guarded("torch.compile calls")(wrap_optimize)
        )


def _is_stance_force_eager() -> bool:
    eval_frame = sys.modules.get("torch._dynamo.eval_frame")
    stance = getattr(eval_frame, "_stance", None)  # None while the module is being imported
    return stance is not None and stance.stance == "force_eager"


def _own_compile_call_in_main() -> str | None:
    """For programs without a Python file: `python -c`, and notebooks."""
    for number, cell in enumerate(cells_of_program(), 1):
        place = place_of_compile_call(cell, f"In[{number}]")
        if place is not None:
            return place
    if "-c" in sys.orig_argv[:-1] and not hasattr(sys.modules["__main__"], "__file__"):
        return place_of_compile_call(sys.orig_argv[sys.orig_argv.index("-c") + 1], "<string>")
    return None
