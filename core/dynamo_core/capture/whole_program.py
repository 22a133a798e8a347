"""Compile a program that does not compile for itself: a policy in front of Dynamo's frame callback.

Source: torch/_dynamo/eval_frame.py (_TorchDynamoContext, set_eval_frame), torch/_dynamo/convert_frame.py
(CatchErrorsWrapper, ConvertFrameReturn), torch/_dynamo/types.py. Run with 2.8, 2.13 and 2.15.
"""

import atexit
import os
import sys
import threading
import weakref
from collections.abc import Callable
from types import CodeType
from typing import Any

from ..backends.chain import Tell
from ..names import CAPTURE_DECISION
from ..settings import FULLGRAPH_FIRST, Settings
from .compile_arguments import optimize_context
from .freeze import NotCompiled
from .import_hook import import_hook
from .policy import NEVER, NEVER_BELOW, NOT_NOW, TAKE, Policy, is_torch_module_file
from .probes import Probes
from .program_files import (
    own_modules,
    place_of_compile_call,
    place_of_compile_call_in_progress,
    place_of_own_compile_call,
)
from .unnoticed import draw_random_numbers_as_eager_does, silence_compiler_warnings

# A function that was given no tensor this often is left alone: asking costs some 10 µs a call.
_PATIENCE = 50
_PATIENCE_KEY = "dynamo_run_calls_without_tensor"


# A daemon thread that still runs at exit is unwound through torch's C++ frame without a thread state, and
# crashes the process (seen with torch 2.15 on Python 3.13, without any of our code; not with 3.11).
_UNWINDS_DAEMONS_THROUGH_TORCH = (3, 12) <= sys.version_info < (3, 14)


class _Answer:
    """What a frame callback answers; torch's ConvertFrameReturn without importing torch._dynamo."""

    guarded_code = None
    skip_reason = None

    def __init__(self, strategy: Any, *, apply_to_code: bool) -> None:
        self.frame_exec_strategy = strategy
        self.apply_to_code = apply_to_code


class _Codes:
    """Code objects, not kept alive, and forgotten some time after they are gone.

    By identity, since code objects compare by value; without callbacks, which would run at interpreter exit.
    """

    def __init__(self) -> None:
        self._references: dict[int, weakref.ref[CodeType]] = {}
        self._sweep_at = 1000

    def add(self, code: CodeType) -> None:
        self._references[id(code)] = weakref.ref(code)
        if len(self._references) >= self._sweep_at:
            self._references = {key: ref for key, ref in self._references.items() if ref() is not None}
            self._sweep_at = 1000 + 2 * len(self._references)

    def alive(self) -> list[CodeType]:
        found = [reference() for reference in list(self._references.values())]
        return [code for code in found if code is not None]


class WholeProgramCapture:
    """Takes frames of the whole process, until the program turns out to compile for itself."""

    def __init__(self, settings: Settings, probes: Probes, tell: Tell) -> None:
        self._settings = settings
        self._tell = tell
        self._probes = probes
        self._policy = Policy(settings.capture)
        self._active = False
        self._callback: Any = None
        self._dynamo_callback: Callable[..., Any] | None = None
        self._is_loading = False
        self._lock = threading.RLock()
        self._taking = threading.local()
        self._files_scanned: set[str] = set()
        self._codes_decided = _Codes()  # what C++ remembers for good, and may have to take back
        self._restore_settings: list[Callable[[], None]] = []

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
        self._callback = self._frame_callback()
        self._active = True
        self._decide("capture", None)
        self._capture_new_threads()
        self._allow_setting_the_stance()
        atexit.register(self._leave)
        os.register_at_fork(after_in_child=self._leave)
        self.enter_this_thread()

    def enter_this_thread(self) -> None:
        """From here on, frames of this thread are offered to the policy."""
        from torch._C._dynamo.eval_frame import set_eval_frame

        if self._active:
            set_eval_frame(self._callback)

    def _leave(self) -> None:
        from torch._C._dynamo.eval_frame import set_eval_frame

        self._active = False
        set_eval_frame(None)

    def _decide(self, decision: str, because: str | None) -> None:
        settings = self._settings
        self._probes.stream.artifact(
            CAPTURE_DECISION,
            {
                "decision": decision,
                "because": because,
                "policy": settings.capture,
                "backend": settings.backend,
                "fallback_random": decision == "capture" and self._may_use_inductor(),
            },
        )

    def _may_use_inductor(self) -> bool:
        return any(choice.name in ("inductor", "autotuned") for choice in self._settings.choices())

    def _frame_callback(self) -> Callable[..., Any]:
        """What C++ asks about every frame that it has no answer for yet."""
        from torch._C._dynamo.eval_frame import _FrameAction, _FrameExecStrategy

        skip, default = _FrameAction.SKIP, _FrameAction.DEFAULT
        never = _Answer(_FrameExecStrategy(skip, default), apply_to_code=True)
        never_below = _Answer(_FrameExecStrategy(skip, skip), apply_to_code=True)
        not_now = _Answer(_FrameExecStrategy(skip, default), apply_to_code=False)
        not_now_below = _Answer(_FrameExecStrategy(skip, skip), apply_to_code=False)

        answers = {NEVER: never, NEVER_BELOW: never_below, NOT_NOW: not_now}

        def callback(frame: Any, cache_entry: Any, frame_state: Any) -> Any:
            try:
                if not self._active or _is_stance_force_eager():
                    return not_now_below
                verdict = self._verdict(frame, frame_state)
                if verdict != TAKE:
                    return answers[verdict]
                if not self._is_ready_to_take() or self._dynamo_callback is None:
                    return not_now_below
                self._taking.code = frame.f_code
            except Exception as error:
                self._probes.failed("capture policy", error)
                return never
            try:
                return self._dynamo_callback(frame, cache_entry, frame_state)
            except NotCompiled:
                raise
            except Exception:
                if self._settings.fullgraph == FULLGRAPH_FIRST or self._settings.strict:
                    raise
                return never  # The frame's record has the error.
            finally:
                self._taking.code = None

        return callback

    def _verdict(self, frame: Any, frame_state: dict[Any, Any]) -> str:
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
                self._is_loading = True
                try:
                    self._dynamo_callback = self._load_dynamo()
                except (Exception, SystemExit) as error:  # a bad backend or option, as torch words it
                    self._leave()
                    self._decide("failed", f"{type(error).__name__}: {error}")
                    return False
                finally:
                    self._is_loading = False
            return True

    def _load_dynamo(self) -> Callable[..., Any]:
        """Dynamo's own callback for our settings; C++ finds cache entries by the backend behind it."""
        os.getcwd()  # without one the next import fails half-way, and what it leaves is noisy at exit
        from torch._dynamo import convert_frame

        context = optimize_context(self._settings, self._tell)
        # What `dynamic=True` and the like change in torch's settings; each returns its undoing.
        self._restore_settings = [enter() for enter in context.enter_exit_hooks]
        if self._may_use_inductor():
            self._restore_settings.append(draw_random_numbers_as_eager_does())
        if "TORCH_LOGS" not in os.environ:
            self._restore_settings.append(silence_compiler_warnings())
        self._let_torchs_own_modules_in()
        # Dynamo leaves everything below its own file out of the stacks that it reports.
        self._callback.__code__ = self._callback.__code__.replace(co_filename=convert_frame.__file__)
        # From torch 2.9 on. Before, C++ looks for a backend behind the callback ahead of calling it: one that
        # appears only now would make it compile the first frame twice.
        self._callback._torchdynamo_orig_backend = context.callback
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

        trace_rules.check = check

    def _capture_new_threads(self) -> None:
        """A thread begins without a callback; give it ours before its first frame of the program's.

        Every thread notes its identity first (CPython's Lib/threading.py, 3.10 to 3.14); that call has
        returned when the program's code runs, so nothing of ours lies on its stack.
        """
        set_ident = threading.Thread._set_ident  # type: ignore[attr-defined]

        def _set_ident(thread: threading.Thread) -> None:
            set_ident(thread)
            if not (thread.daemon and _UNWINDS_DAEMONS_THROUGH_TORCH):
                self.enter_this_thread()

        threading.Thread._set_ident = _set_ident  # type: ignore[attr-defined]

    def _allow_setting_the_stance(self) -> None:
        """torch refuses `torch.compiler.set_stance` where a frame callback is set, and here it always is."""

        def wrap_set_stance(decorators: Any) -> None:
            from torch._C._dynamo.eval_frame import get_eval_frame_callback, set_eval_frame

            original = decorators._set_stance

            def _set_stance(stance: Any) -> Any:
                if not (self._active and get_eval_frame_callback() is self._callback):
                    return original(stance)
                set_eval_frame(None)
                try:
                    return original(stance)
                finally:
                    set_eval_frame(self._callback)

            _set_stance._dynamo_forbidden = True  # type: ignore[attr-defined]
            decorators._set_stance = _set_stance

        import_hook.when_imported(
            "torch._dynamo.decorators", self._probes.harmless("compile stances")(wrap_set_stance)
        )

    def _own_compile_call_in_new_files(self) -> str | None:
        for file in own_modules().values():
            if file not in self._files_scanned:
                self._files_scanned.add(file)
                place = place_of_own_compile_call(file)
                if place is not None:
                    return place
        return None

    def _stop_because(self, reason: str) -> None:
        """Leave the program to its own torch.compile, as if we had decided and changed nothing."""
        from torch._C._dynamo.eval_frame import reset_code

        with self._lock:
            if not self._active:
                return
            self._leave()
            for code in self._codes_decided.alive():
                reset_code(code)
            for restore in self._restore_settings:
                restore()
            self._restore_settings.clear()
            self._decide("observe", reason)

    def _watch_for_compile_calls(self) -> None:
        """Stop when the program, or a library for it, calls torch.compile or `module.compile()` after all."""

        def wrap_optimize(eval_frame: Any) -> None:
            original = eval_frame._optimize

            def _optimize(*args: Any, **named: Any) -> Any:
                if self._active and not self._is_loading:
                    place = place_of_compile_call_in_progress()
                    if place is not None:
                        self._stop_because(f"{place} calls torch.compile")
                return original(*args, **named)

            eval_frame._optimize = _optimize

        import_hook.when_imported(
            "torch._dynamo.eval_frame", self._probes.harmless("torch.compile calls")(wrap_optimize)
        )


def _is_stance_force_eager() -> bool:
    eval_frame = sys.modules.get("torch._dynamo.eval_frame")
    stance = getattr(eval_frame, "_stance", None)  # None while the module is being imported
    return stance is not None and stance.stance == "force_eager"


def _own_compile_call_in_main() -> str | None:
    """For programs without a file: `python -c`."""
    if "-c" in sys.orig_argv[:-1] and not hasattr(sys.modules["__main__"], "__file__"):
        return place_of_compile_call(sys.orig_argv[sys.orig_argv.index("-c") + 1], "<string>")
    return None
