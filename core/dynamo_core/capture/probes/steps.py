"""Note when each step of the program begins, compiled or eager, so that `dynamo bench` can compare the two.

A step begins with a frame that is known from an earlier run. Where the frame is compiled, the calls of its
graphs are noted; where it runs as plain Python, and nothing is compiled, the frame itself is.

One of torch's own modules, `torch.compile(nn.Sequential(…))`, is compiled through a function that all of
torch's modules share. In eager it runs through `forward`, as do the modules inside it. Its steps begin where
a line of the program calls it.

Eager frames. From Python 3.12 on, `sys.monitoring` calls us when a frame begins; before, a frame callback of
torch does, which costs some 10 µs a call, as torch saves and restores the state of Python's random numbers
(torch/_dynamo/convert_frame.py, preserve_global_state, says so). Other frames cost next to nothing. Run on
Python 3.10, 3.11 and 3.13.

Source: torch/_dynamo/output_graph.py (OutputGraph.call_user_compiler, root_tx),
torch/_dynamo/external_utils.py (wrap_inline), torch/nn/modules/module.py (Module._call_impl). Run with 2.8,
2.13 and 2.15.
"""

import os
import sys
from collections.abc import Callable, Iterator
from statistics import median
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

from ...shared.records import StepMarksKept
from ...shared.settings import StepFrame
from ..frames.callback import Answers, FrameCallback
from ..frames.source import frames_outwards, is_in, is_wrapper_of_modules, torch_folder
from ..primitives import perf_counter_ns
from ..probe_guard import ProbeGuard

if TYPE_CHECKING:
    from torch._dynamo.output_graph import OutputGraph
    from torch._dynamo.types import DynamoFrameType
    from torch.fx import GraphModule

    from ..engine_parts import EngineParts

_TOOLS = (4, 3)  # the ids that sys.monitoring reserves for no kind of tool
_CALLS_TO_CALIBRATE = 200

# Notes the beginning of a frame with this code if it is wanted; returns whether it is.
NoteFrame = Callable[[CodeType], bool]


def watch(note: NoteFrame, probes: ProbeGuard) -> None:
    """Call `note` each time a frame begins; only once for code for which it returns False."""
    if sys.version_info >= (3, 12):
        _monitor(note)
    else:
        FrameCallback(lambda: _frame_callback(note), probes).enter()


def _frame_callback(note: NoteFrame) -> Callable[..., Any]:
    answer = Answers()

    def callback(frame: "DynamoFrameType", cache_entry: Any, frame_state: Any) -> Any:
        return answer.not_now_below if note(frame.f_code) else answer.never

    return callback


def _monitor(note: NoteFrame) -> None:
    """Call `note` through `sys.monitoring`; RuntimeError where all tool ids are in use."""
    monitoring: Any = getattr(sys, "monitoring")  # noqa: B009 - mypy reads this file as 3.10
    for tool in _TOOLS:
        if monitoring.get_tool(tool) is None:
            break
    else:
        raise RuntimeError("other tools use sys.monitoring")
    monitoring.use_tool_id(tool, "dynamo bench")
    disable = monitoring.DISABLE

    def begun(code: CodeType, offset: int) -> Any:
        return None if note(code) else disable

    monitoring.register_callback(tool, monitoring.events.PY_START, begun)
    monitoring.set_events(tool, monitoring.events.PY_START)


class StepMarks:
    """Notes on one page of calls when each step begins: the moments at which one of `frames` begins."""

    def __init__(self, frames: tuple[StepFrame, ...], probes: ProbeGuard) -> None:
        self._frames = frozenset(frame for frame in frames if "." not in frame[2])
        self._calls = {frame[:2]: frame[2] for frame in frames if "." in frame[2]}
        self._torch_folder = ""
        self._probes = probes
        page = probes.stream.counters.new_page()
        assert page is not None  # it is the first page
        self._page = page
        self._mark: Callable[[], None] = probes.stream.counters.moment_marker(page)
        self._record(0)
        os.register_at_fork(after_in_child=self._stop)

    def install(self, output_graph: ModuleType, parts: "EngineParts") -> None:
        """Wrap `OutputGraph.call_user_compiler`, so that calls of graphs that begin a step are noted."""
        self._torch_folder = torch_folder(output_graph)

        def call_user_compiler(
            proceed: Callable[..., Any], owner: "OutputGraph", gm: "GraphModule", *rest: Any
        ) -> Any:
            compiled = proceed(owner, gm, *rest)
            is_left_alone = owner.export or getattr(owner, "package", None) is not None
            return compiled if is_left_alone else self._marked(owner.root_tx.f_code, compiled)

        self._probes.hook(output_graph.OutputGraph, "call_user_compiler", "steps", call_user_compiler)

    def _marked(self, code: CodeType, compiled: Callable[..., Any]) -> Callable[..., Any]:
        """A compiled graph whose calls are noted if they begin a step."""
        is_torch_module = bool(self._calls) and is_wrapper_of_modules(code)
        if not is_torch_module and not self._begins_step(code):
            return compiled

        def marked_graph(*args: Any) -> Any:
            if is_torch_module:
                self._mark_if_called_there()
            else:
                self._mark()
            return compiled(*args)

        return marked_graph

    def watch_eager_frames(self) -> None:
        """Note the eager frames that begin a step, from now on, and record what noting one costs."""

        def note(code: CodeType) -> bool:
            if self._begins_step(code):
                self._mark()
                return True
            if code in methods_of_torch:
                self._mark_if_called_there()
                return True
            return code is _nothing.__code__

        methods_of_torch = frozenset(self._methods_of_torch_modules())
        self._torch_folder = str(sys.modules["torch"].__file__).rpartition(os.sep)[0] + os.sep
        unwatched = _ns_a_call()
        watch(note, self._probes)
        self._record(max(0.0, _ns_a_call() - unwatched))

    def _record(self, ns_each: float) -> None:
        self._probes.stream.record(StepMarksKept(calls_index=self._page, ns_each=ns_each))

    def _begins_step(self, code: CodeType) -> bool:
        return (code.co_filename, code.co_firstlineno, code.co_name) in self._frames

    def _methods_of_torch_modules(self) -> Iterator[CodeType]:
        """The code of the methods of torch's modules with which the steps begin."""
        for name in self._calls.values():
            kind, _, method = name.rpartition(".")
            code = getattr(
                getattr(getattr(sys.modules["torch.nn"], kind, None), method, None), "__code__", None
            )
            if code is not None:
                yield code

    def _mark_if_called_there(self) -> None:
        """Note a step if a line that begins steps has called the module, directly and not inside another."""
        modules = 0
        for frame in frames_outwards():
            if not is_in(frame, self._torch_folder):
                if (frame.f_code.co_filename, frame.f_lineno) in self._calls:
                    self._mark()
                return
            modules += frame.f_code.co_name == "_call_impl"
            if modules > 1:
                return

    def _stop(self) -> None:
        """Note no steps in a forked child: they are not the program's."""
        self._mark = _nothing


def _ns_a_call() -> float:
    """The median time of a call of an empty function."""
    spent = []
    for _ in range(_CALLS_TO_CALIBRATE):
        began = perf_counter_ns()
        _nothing()
        spent.append(perf_counter_ns() - began)
    return median(spent)


def _nothing() -> None:
    pass
