"""Note when each step of the program begins, whether it is compiled or not: `dynamo bench` compares the two.

A step begins with a frame that is known from an earlier run. Where it is compiled, the calls of its graphs
are noted; where it runs as plain Python, its frames are (`eager_frames.py`), and nothing is compiled.

Source: torch/_dynamo/output_graph.py (OutputGraph.call_user_compiler, root_tx). Run with 2.8, 2.13 and 2.15.
"""

import os
from collections.abc import Callable
from statistics import median
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

from ...shared.records import StepMarksKept
from ...shared.settings import StepFrame
from ..harmless import Probes
from ..primitives import perf_counter_ns
from .eager_frames import watch

if TYPE_CHECKING:
    from ..engine_parts import EngineParts

_CALLS_TO_CALIBRATE = 200


class StepMarks:
    """Notes, on one page of calls, the moments at which one of the frames is entered."""

    def __init__(self, frames: tuple[StepFrame, ...], probes: Probes) -> None:
        self._frames = frozenset(frames)
        self._probes = probes
        page = probes.stream.counters.new_page()
        assert page is not None  # it is the first
        self._page = page
        self._mark: Callable[[], None] = probes.stream.counters.moments(page)
        self._record(0)
        os.register_at_fork(after_in_child=self._stop)

    def install(self, output_graph: ModuleType, parts: "EngineParts") -> None:
        """Note the calls of each graph that begins one of the frames."""
        original = output_graph.OutputGraph.call_user_compiler

        @self._probes.harmless("steps")
        def marked(owner: Any, compiled: Callable[..., Any]) -> Callable[..., Any] | None:
            is_left_alone = owner.export or getattr(owner, "package", None) is not None
            if is_left_alone or not self._begins_step(owner.root_tx.f_code):
                return None

            def marked_graph(*args: Any) -> Any:
                self._mark()
                return compiled(*args)

            return marked_graph

        def call_user_compiler(self: Any, gm: Any, *rest: Any) -> Any:
            compiled = original(self, gm, *rest)
            return marked(self, compiled) or compiled

        output_graph.OutputGraph.call_user_compiler = call_user_compiler

    def watch_eager_frames(self) -> None:
        """Note the frames themselves, from now on, and record what being told of one costs the program."""

        def look(code: CodeType) -> bool:
            if self._begins_step(code):
                self._mark()
                return True
            return code is _nothing.__code__

        unwatched = _ns_a_call()
        watch(look, self._probes)
        self._record(max(0.0, _ns_a_call() - unwatched))

    def _record(self, ns_each: float) -> None:
        self._probes.stream.record(StepMarksKept(calls_index=self._page, ns_each=ns_each))

    def _begins_step(self, code: CodeType) -> bool:
        return (code.co_filename, code.co_firstlineno, code.co_name) in self._frames

    def _stop(self) -> None:
        """A forked child's steps are not the program's."""
        self._mark = _nothing


def _ns_a_call() -> float:
    """What a call of a function of ours takes."""
    spent = []
    for _ in range(_CALLS_TO_CALIBRATE):
        began = perf_counter_ns()
        _nothing()
        spent.append(perf_counter_ns() - began)
    return median(spent)


def _nothing() -> None:
    pass
