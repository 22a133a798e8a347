"""A frame callback for the whole process: torch's C++ code asks it about each frame not yet decided.

Source: torch/csrc/dynamo/eval_frame.c and eval_frame_cpp.cpp, torch/_dynamo/types.py (ConvertFrameReturn),
torch/_dynamo/decorators.py (_set_stance). Run with 2.8, 2.13 and 2.15.
"""

import atexit
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from ..import_hook import import_hook
from ..probe_guard import ProbeGuard

# A daemon thread that still runs at exit is unwound through torch's C++ frame without a thread state, and
# crashes the process (seen with torch 2.15 on Python 3.13, without any of our code; not with 3.11).
_UNWINDS_DAEMONS_THROUGH_TORCH = (3, 12) <= sys.version_info < (3, 14)


class _Answer:
    """The answer of a frame callback: torch's ConvertFrameReturn without importing torch._dynamo."""

    guarded_code = None
    skip_reason = None

    def __init__(self, strategy: Any, *, apply_to_code: bool) -> None:
        self.frame_exec_strategy = strategy
        self.apply_to_code = apply_to_code


class Answers:
    """The answers that a frame callback can give; each runs the frame as plain Python.

    `never`: always, without asking again. `not_now`: only this time. With `_below`, frames that it calls are
    not asked about either. `deferred`: only this time, and what it calls runs compiled where it is compiled
    already.
    """

    def __init__(self) -> None:
        from torch._C._dynamo.eval_frame import _FrameAction, _FrameExecStrategy

        skip, default, run_only = _FrameAction.SKIP, _FrameAction.DEFAULT, _FrameAction.RUN_ONLY
        self.never = _Answer(_FrameExecStrategy(skip, default), apply_to_code=True)
        self.never_below = _Answer(_FrameExecStrategy(skip, skip), apply_to_code=True)
        self.not_now = _Answer(_FrameExecStrategy(skip, default), apply_to_code=False)
        self.not_now_below = _Answer(_FrameExecStrategy(skip, skip), apply_to_code=False)
        self.deferred = _Answer(_FrameExecStrategy(skip, run_only), apply_to_code=False)


class FrameCallback:
    """Sets the callback that `make` returns in every thread until `leave`; forked children do not have it."""

    def __init__(self, make: Callable[[], Callable[..., Any]], probes: ProbeGuard) -> None:
        self._make = make
        self.callback: Any = None
        self.is_active = False
        self._probes = probes

    def enter(self) -> None:
        """Ask about the frames of all threads from now on."""
        from torch._C._dynamo.eval_frame import set_eval_frame

        self.callback = self._make()
        self.is_active = True
        self._enter_new_threads()
        self._allow_setting_the_stance()
        # Exit functions run in reverse order. `leave` may itself be a frame that C++ asks about, which sets
        # the callback again when it ends; `set_eval_frame` is a C function and has no frame.
        atexit.register(set_eval_frame, None)
        atexit.register(self.leave)
        os.register_at_fork(after_in_child=self.leave)
        self.enter_this_thread()

    def enter_this_thread(self) -> None:
        """Ask about the frames of this thread from now on."""
        from torch._C._dynamo.eval_frame import set_eval_frame

        if self.is_active:
            set_eval_frame(self.callback)

    def again(self) -> None:
        """In a fork: ask about the frames of this thread from now on, as before the fork."""
        self.is_active = True
        self.enter_this_thread()

    def leave(self) -> None:
        """Ask about no more frames."""
        from torch._C._dynamo.eval_frame import set_eval_frame

        self.is_active = False
        set_eval_frame(None)

    def _enter_new_threads(self) -> None:
        """Set the callback in each new thread, which begins without one, before it runs the program's code.

        Every thread notes its identity first (CPython's Lib/threading.py, 3.10 to 3.14). That call has
        returned when the program's code runs, so that no frame of ours is on its stack.
        """
        set_ident = threading.Thread._set_ident  # type: ignore[attr-defined]

        def _set_ident(thread: threading.Thread) -> None:
            set_ident(thread)
            if not (thread.daemon and _UNWINDS_DAEMONS_THROUGH_TORCH):
                self.enter_this_thread()

        threading.Thread._set_ident = _set_ident  # type: ignore[attr-defined]

    def _allow_setting_the_stance(self) -> None:
        """Let `torch.compiler.set_stance` work, which torch refuses while a frame callback is set."""

        def wrap_set_stance(decorators: Any) -> None:
            from torch._C._dynamo.eval_frame import get_eval_frame_callback, set_eval_frame

            original = decorators._set_stance

            def _set_stance(stance: Any) -> Any:
                if not (self.is_active and get_eval_frame_callback() is self.callback):
                    return original(stance)
                set_eval_frame(None)
                try:
                    return original(stance)
                finally:
                    set_eval_frame(self.callback)

            _set_stance._dynamo_forbidden = True  # type: ignore[attr-defined]
            decorators._set_stance = _set_stance

        import_hook.when_imported(
            "torch._dynamo.decorators", self._probes.guarded("compile stances")(wrap_set_stance)
        )
