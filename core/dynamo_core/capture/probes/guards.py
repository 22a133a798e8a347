"""Probe: the guards of each cache entry as structure, and how long they take while the program runs.

Structure: torch's trace has the guards as one text. Time: torch measures it only once, as it compiles. After
some calls of a compiled graph, the guards of the cache entry that made the call are evaluated once more and
timed: with the processor's caches as the program leaves them, as before each call.

Where torch leaves out the lines of guards, they are noted beside it: with them in its guards, what it prints
at the recompile limit would be another text.

Source: torch/_dynamo/guards.py (CheckFunctionManager.__init__, whose second argument is the output graph;
guard_manager.root), torch/_guards.py (Guard), torch/csrc/dynamo/guards.cpp (RootGuardManager.check),
torch/csrc/dynamo/eval_frame.c (guards are evaluated without a callback). Read in 2.8 to 2.15; run with 2.13.
"""

import weakref
from collections.abc import Callable
from inspect import CO_OPTIMIZED
from types import CodeType, FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from ...shared.call_pages import GUARD_NS, GUARD_SAMPLES
from ...shared.records import GuardsMade
from ..frames.source import current_compile_id
from ..primitives import perf_counter_ns
from ..torch_versions import guard_type, leaves_out_lines_of_guards, source_name
from ..writing.call_counters import SampleGuards

if TYPE_CHECKING:
    from torch._dynamo.output_graph import OutputGraph

    from ..engine_parts import EngineParts

_STACKS = "dynamo_run_stacks"  # the attribute of a set of guards that has the lines of each, by its id
_MOST_SAMPLES = 16
_FRAMES_BETWEEN = 4  # torch's frames between the frame and its graph: torch/_dynamo/eval_frame.py (disable)


def install(guards: ModuleType, parts: "EngineParts") -> None:
    """Record the guards once `CheckFunctionManager.__init__` has given each the code that checks it."""

    def __init__(
        proceed: Callable[..., Any],
        checks: Any,
        f_code: CodeType,
        output_graph: "OutputGraph",
        *rest: Any,
        **named: Any,
    ) -> None:
        proceed(checks, f_code, output_graph, *rest, **named)
        guard_cost.add_entry(current_compile_id(), f_code, checks.guard_manager)
        if not parts.settings.brief:
            stacks: dict[int, Any] = vars(output_graph.guards).get(_STACKS, {})
            described = [_guard(guard, stacks.get(id(guard))) for guard in output_graph.guards]
            # torch's own order takes 20 times as long.
            described.sort(key=lambda guard: (guard["source"], guard["type"]))
            parts.stream.record(GuardsMade(guards=described), current_compile_id())

    parts.probes.hook(guards.CheckFunctionManager, "__init__", "guards", __init__)
    if leaves_out_lines_of_guards():
        from torch._guards import GuardsSet

        parts.probes.hook(GuardsSet, "add", "guards", _add_with_line)


def _add_with_line(proceed: Callable[..., Any], guards: Any, guard: Any, **named: Any) -> None:
    from torch._guards import TracingContext

    if guard not in guards.inner:
        vars(guards).setdefault(_STACKS, {})[id(guard)] = TracingContext.extract_stack()
    proceed(guards, guard, **named)


def _guard(guard: Any, noted_stack: Any) -> dict[str, Any]:
    described: dict[str, Any] = {
        "type": guard_type(guard),
        "source": source_name(guard),
        "scope": guard.source.name.lower() if guard.source else None,
        "code": guard.code_list or [],
    }
    stack = guard.user_stack or noted_stack
    if stack:
        innermost = stack[-1]
        described["file"], described["line"] = innermost.filename, innermost.lineno
    return described


class GuardCost:
    """The guards of each cache entry, by compile id."""

    def __init__(self) -> None:
        self._entries: dict[tuple[int, int], tuple[CodeType, Any]] = {}

    def add_entry(self, compile_id: dict[str, int], code: CodeType, guard_manager: Any) -> None:
        """Remember the guards of a cache entry, by a weak reference: torch decides how long they live."""
        key = _key(compile_id)
        if key is not None:
            self._entries[key] = (code, weakref.ref(guard_manager))

    def sampler(self, compile_id: dict[str, int]) -> SampleGuards | None:
        """A function that times the guards of this compile; None outside a compile."""
        key = _key(compile_id)
        if key is None:
            return None
        offered = 0

        def sample(words: Any, frame: FrameType) -> None:
            nonlocal offered
            offered += 1
            if offered & (offered - 1) or words[GUARD_SAMPLES] >= _MOST_SAMPLES:
                return  # only the 1st, 2nd, 4th, 8th … call is sampled
            code, guard_manager = self._entries.get(key, (None, lambda: None))
            manager = guard_manager()
            caller = _frame_running(code, frame)
            if manager is None or caller is None:
                return
            elapsed = _evaluate(manager.root, caller)
            if elapsed is not None:
                words[GUARD_NS] += elapsed
                words[GUARD_SAMPLES] += 1

        return sample


guard_cost = GuardCost()  # of this process


def _key(compile_id: dict[str, int]) -> tuple[int, int] | None:
    return (compile_id["frame_id"], compile_id["frame_compile_id"]) if compile_id else None


def _frame_running(code: CodeType | None, frame: FrameType | None) -> FrameType | None:
    """The frame that runs the code that Dynamo made of `code`, which has the same name, file and line."""
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
    """The nanoseconds of one evaluation; None where the guards do not hold, since the frame has changed."""
    from torch._C._dynamo.eval_frame import set_eval_frame

    if not frame.f_code.co_flags & CO_OPTIMIZED:  # its locals are a namespace that the program can see
        return None
    frame_locals = frame.f_locals
    values = dict(frame_locals)
    if type(frame_locals) is dict:  # before Python 3.13 the frame keeps it, and with it the program's tensors
        frame_locals.clear()
    callback = set_eval_frame(None)
    try:
        start = perf_counter_ns()
        holds = root.check(values)
        elapsed = perf_counter_ns() - start
    finally:
        set_eval_frame(callback)
    return elapsed if holds else None
