"""Compile a program that does not compile for itself: a policy in front of Dynamo's frame callback.

Source: torch/_dynamo/eval_frame.py (_TorchDynamoContext, set_eval_frame), torch/_dynamo/convert_frame.py
(CatchErrorsWrapper, ConvertFrameReturn), torch/_dynamo/types.py. Run with 2.13.
"""

import atexit
import os
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

from ..names import CAPTURE_DECISION
from ..settings import Settings
from .compile_arguments import optimize_context
from .import_hook import import_hook
from .policy import NEVER, NEVER_BELOW, NOT_NOW, TAKE, Policy, is_torch_module_file
from .probes import Probes
from .program_files import is_own, own_modules, place_of_compile_call, place_of_own_compile_call
from .unnoticed import draw_random_numbers_as_eager_does, silence_compiler_warnings


class WholeProgramCapture:
    """Takes frames of the whole process, until the program turns out to compile for itself."""

    def __init__(self, settings: Settings, probes: Probes) -> None:
        self._settings = settings
        self._probes = probes
        self._policy = Policy(settings.capture)
        self._active = False
        self._callback: Any = None
        self._files_scanned: set[str] = set()
        self._codes_decided: list[weakref.ref[Any]] = []
        self._restore_settings: list[Callable[[], None]] = []
        self._taking = threading.local()

    def begin(self) -> None:
        """Start capturing, unless the policy or the program's own code says not to."""
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
        try:
            self._callback = self._frame_callback()
        except (Exception, SystemExit) as error:
            self._decide("failed", f"{type(error).__name__}: {error}")
            return
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
                "fallback_random": decision == "capture" and settings.backend == "inductor",
            },
        )

    def _frame_callback(self) -> Callable[..., Any]:
        """Dynamo's own callback for these settings, behind the policy."""
        from torch._C._dynamo.eval_frame import _FrameAction, _FrameExecStrategy
        from torch._dynamo import convert_frame, eval_frame
        from torch._dynamo.types import ConvertFrameReturn

        context = optimize_context(self._settings)
        # What `dynamic=True` and the like change in torch's settings; each returns its undoing.
        self._restore_settings = [enter() for enter in context.enter_exit_hooks]
        if self._settings.backend == "inductor":
            self._restore_settings.append(draw_random_numbers_as_eager_does())
        if "TORCH_LOGS" not in os.environ:
            self._restore_settings.append(silence_compiler_warnings())
        self._let_torchs_own_modules_in()
        dynamo_callback = context.callback
        never = ConvertFrameReturn()
        never_below = ConvertFrameReturn(
            frame_exec_strategy=_FrameExecStrategy(_FrameAction.SKIP, _FrameAction.SKIP)
        )
        not_now = ConvertFrameReturn(apply_to_code=False)

        def callback(frame: Any, cache_entry: Any, frame_state: Any) -> Any:
            if not self._active or eval_frame._stance.stance == "force_eager":
                return not_now
            try:
                verdict = self._policy.verdict(frame)
                if verdict == TAKE and self._settings.capture == "auto":
                    place = self._own_compile_call_in_new_files()
                    if place is not None:
                        self._stop_because(f"{place} calls torch.compile")
                        return not_now
            except Exception as error:
                self._probes.failed("capture policy", error)
                return never
            if verdict != NOT_NOW:
                self._codes_decided.append(weakref.ref(frame.f_code))
            if verdict == NEVER:
                return never
            if verdict == NEVER_BELOW:
                return never_below
            if verdict != TAKE:
                return not_now
            self._taking.code = frame.f_code
            try:
                return dynamo_callback(frame, cache_entry, frame_state)
            except Exception:
                if self._settings.fullgraph:
                    raise
                return never  # The frame's record has the error.
            finally:
                self._taking.code = None

        # Dynamo leaves everything below its own file out of the stacks that it reports.
        callback.__code__ = callback.__code__.replace(co_filename=convert_frame.__file__)
        # The C++ side follows this attribute to the backend, by which cache entries are found.
        callback._torchdynamo_orig_backend = dynamo_callback  # type: ignore[attr-defined]
        callback._torchdynamo_orig_callable = dynamo_callback  # type: ignore[attr-defined]
        return callback

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
        """A thread begins without a callback; give it ours before its first frame."""
        bootstrap = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

        def _bootstrap_inner(thread: threading.Thread) -> None:
            self.enter_this_thread()
            bootstrap(thread)

        threading.Thread._bootstrap_inner = _bootstrap_inner  # type: ignore[attr-defined]

    def _allow_setting_the_stance(self) -> None:
        """torch refuses `torch.compiler.set_stance` where a frame callback is set, and here it always is."""
        from torch._C._dynamo.eval_frame import get_eval_frame_callback, set_eval_frame
        from torch._dynamo import decorators

        original = decorators._set_stance

        def _set_stance(stance: Any) -> Any:
            is_ours = self._active and get_eval_frame_callback() is self._callback
            if not is_ours:
                return original(stance)
            set_eval_frame(None)
            try:
                return original(stance)
            finally:
                set_eval_frame(self._callback)

        _set_stance._dynamo_forbidden = True  # type: ignore[attr-defined]
        decorators._set_stance = _set_stance

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

        if not self._active:
            return
        self._leave()
        for reference in self._codes_decided:
            code = reference()
            if code is not None:
                reset_code(code)
        self._codes_decided.clear()
        for restore in self._restore_settings:
            restore()
        self._restore_settings.clear()
        self._decide("observe", reason)

    def _watch_for_compile_calls(self) -> None:
        """Stop when the program's own code calls torch.compile or `module.compile()` after all."""

        def wrap_optimize(eval_frame: Any) -> None:
            original = eval_frame._optimize

            def _optimize(*args: Any, **named: Any) -> Any:
                if self._active:
                    caller = _caller_outside_torch()
                    if caller is not None and is_own(caller.f_code.co_filename):
                        place = f"{caller.f_code.co_filename}:{caller.f_lineno}"
                        self._stop_because(f"{place} calls torch.compile")
                return original(*args, **named)

            eval_frame._optimize = _optimize

        import_hook.when_imported(
            "torch._dynamo.eval_frame", self._probes.harmless("torch.compile calls")(wrap_optimize)
        )


def _own_compile_call_in_main() -> str | None:
    """For programs without a file: `python -c`."""
    if "-c" in sys.orig_argv[:-1] and not hasattr(sys.modules["__main__"], "__file__"):
        return place_of_compile_call(sys.orig_argv[sys.orig_argv.index("-c") + 1], "<string>")
    return None


def _caller_outside_torch() -> Any:
    import torch

    torch_folder = os.path.dirname(torch.__file__)
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(torch_folder):
        frame = frame.f_back
    return frame
