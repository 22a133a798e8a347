"""What evaluating a frame's guards takes while the program runs; torch measures it once, as it compiles.

Now and then, after a call of a compiled graph, the guards of the cache entry that made the call are evaluated
once more and timed: as they are before each call, with the processor's caches as the program leaves them.

Source: torch/_dynamo/guards.py (CheckFunctionManager.guard_manager.root), torch/csrc/dynamo/guards.cpp
(RootGuardManager.check), torch/csrc/dynamo/eval_frame.c (guards are evaluated without a callback). Sources
read from 2.8 to 2.15; run with 2.13.
"""

import weakref
from inspect import CO_OPTIMIZED
from types import CodeType, FrameType
from typing import Any

from ...shared.call_pages import GUARD_NS, GUARD_SAMPLES
from ..primitives import perf_counter_ns
from ..writing.call_counters import SampleGuards

_LARGEST_SAMPLE = 16  # a sample a call at first, then ever fewer
_FRAMES_BETWEEN = 4  # torch's own, between the frame and its graph: torch/_dynamo/eval_frame.py (disable)


class GuardCost:
    """The guards of each cache entry, by compile id."""

    def __init__(self) -> None:
        self._entries: dict[tuple[int, int], tuple[CodeType, Any]] = {}

    def add_entry(self, compile_id: dict[str, int], code: CodeType, guard_manager: Any) -> None:
        """Remember the guards of a cache entry, which are torch's: they go when it lets them go."""
        key = _key(compile_id)
        if key is not None:
            self._entries[key] = (code, weakref.ref(guard_manager))

    def sampler(self, compile_id: dict[str, int]) -> SampleGuards | None:
        """What times the guards of this compile; None outside one."""
        key = _key(compile_id)
        if key is None:
            return None
        offered = 0

        def sample(words: Any, frame: FrameType) -> None:
            nonlocal offered
            offered += 1
            if offered & (offered - 1) or words[GUARD_SAMPLES] >= _LARGEST_SAMPLE:
                return  # only the 1st, 2nd, 4th, 8th … offer
            code, guard_manager = self._entries.get(key, (None, lambda: None))
            manager = guard_manager()
            caller = _frame_of(code, frame)
            if manager is None or caller is None:
                return
            taken = _evaluate(manager.root, caller)
            if taken is not None:
                words[GUARD_NS] += taken
                words[GUARD_SAMPLES] += 1

        return sample


def _key(compile_id: dict[str, int]) -> tuple[int, int] | None:
    return (compile_id["frame_id"], compile_id["frame_compile_id"]) if compile_id else None


def _frame_of(code: CodeType | None, frame: FrameType | None) -> FrameType | None:
    """The frame that runs what Dynamo made of `code`; it keeps the name and the place."""
    if code is None:
        return None
    for _ in range(_FRAMES_BETWEEN):
        if frame is None:
            return None
        running = frame.f_code
        if (running.co_name, running.co_firstlineno) == (code.co_name, code.co_firstlineno):
            return frame if running.co_filename == code.co_filename else None
        frame = frame.f_back
    return None


def _evaluate(root: Any, frame: FrameType) -> int | None:
    """Nanoseconds of one evaluation; None where the frame has changed too much for the guards to hold."""
    from torch._C._dynamo.eval_frame import set_eval_frame

    if not frame.f_code.co_flags & CO_OPTIMIZED:  # its locals are a namespace of the program's
        return None
    found = frame.f_locals
    values = dict(found)
    if type(found) is dict:  # before Python 3.13 the frame keeps it, and would keep the program's tensors
        found.clear()
    callback = set_eval_frame(None)
    try:
        start = perf_counter_ns()
        holds = root.check(values)
        taken = perf_counter_ns() - start
    finally:
        set_eval_frame(callback)
    return taken if holds else None
