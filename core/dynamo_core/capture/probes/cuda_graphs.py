"""Probes: which compiled graphs run as CUDA graphs, how many are recorded, and why others are skipped.

Source: torch/_inductor/cudagraph_utils.py (log_cudagraph_skip_and_bump_counter, which every skip goes
through, in a compile or in a call) and torch/_inductor/cudagraph_trees.py. There CUDAGraphTreeManager has a
function for each part of a graph and each of its sizes: it runs it once to warm up (run_eager), records it
(record_function), and from then on only replays it, which is not seen here. It records it once more where
no recording that it has can be replayed (CUDAGraphNode.check_invariants), and warns where it never can
(check_warn_on_unable_to_start_executing). It does not warn, and warms up at each call, where outputs of the
last one are alive and no call of torch.compile came between: so it is in code that `dynamo run` captures.
The backend `cudagraphs` names no compile: it is noted where it hands over what is to be recorded
(cudagraphify_impl). Read in 2.8, 2.11, 2.13 and 2.15; run with 2.13 and 2.15, with stand-ins for the GPU,
and with 2.11 on one.
"""

import sys
import weakref
from collections import Counter
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...shared.cuda_graph_event import CudaGraphEvent, RecordedAgain
from ..frames.source import current_compile_id, described_user_line, frames_outwards
from ..primitives import perf_counter_ns

if TYPE_CHECKING:
    from ..engine_parts import EngineParts

_PROBE = "CUDA graphs"
_LOGS_SKIP = "log_cudagraph_skip_and_bump_counter"
# The modules that have it, or have imported it by name before this probe came.
_LOGGING = ("cudagraph_utils", "cudagraph_trees", "output_code", "compile_fx")
_STACK = "Found from"  # torch's words before a stack, on the same line or in front of it
_NEEDS_BACKWARD = "outputs of an earlier step still require backward"
_STILL_ALIVE = "outputs of an earlier call are alive at each call"
_TIMES_MORE = 3  # that a function is warmed up beyond the first, until it is taken to stay so


def install(cudagraph_utils: ModuleType, parts: "EngineParts") -> None:
    """Note each skip: torch's reason, and the user's line, where torch names it."""
    probes = parts.probes

    def log_skip(proceed: Callable[..., Any], msg: str) -> Any:
        reason = msg.partition(_STACK)[0].partition("\n")[0].strip(" .")
        skip = CudaGraphEvent(what="skipped", reason=reason, line=described_user_line(msg))
        probes.stream.record(skip, current_compile_id() or _compile_id_of_call())
        return proceed(msg)

    names = [f"torch._inductor.{name}" for name in _LOGGING]
    for name in (*names, "torch._dynamo.backends.cudagraphs"):
        module = sys.modules.get(name)
        if module is not None and hasattr(module, _LOGS_SKIP):
            probes.hook(module, _LOGS_SKIP, _PROBE, log_skip)


def install_on_trees(cudagraph_trees: ModuleType, parts: "EngineParts") -> None:
    """Note what is warmed up and recorded, and why it is recorded once more; replays cost nothing."""
    from torch._inductor import config

    probes = parts.probes
    manager_class = cudagraph_trees.CUDAGraphTreeManager
    compile_ids: weakref.WeakKeyDictionary[Any, dict[str, int]] = weakref.WeakKeyDictionary()
    parts_seen: dict[int, int] = {}
    recorded: weakref.WeakKeyDictionary[Any, set[Any]] = weakref.WeakKeyDictionary()  # by manager
    warmed_up_more: weakref.WeakKeyDictionary[Any, Counter[Any]] = weakref.WeakKeyDictionary()
    why_again = probes.guarded(_PROBE)(_why_again)

    def note(manager: Any, function: Any, **known: Any) -> None:
        model = manager.ids_to_funcs[function].model
        part = parts_seen.setdefault(id(model), len(parts_seen) + 1)
        compile_id = _compile_id(manager, function) or compile_ids.get(model, {})
        probes.stream.record(CudaGraphEvent(part=part, function=function.id, **known), compile_id)

    def cudagraphify_impl(proceed: Callable[..., Any], model: Any, *rest: Any, **named: Any) -> Any:
        if compile_id := current_compile_id():
            compile_ids[model] = compile_id
        return proceed(model, *rest, **named)

    def run_eager(proceed: Callable[..., Any], manager: Any, inputs: Any, function: Any) -> Any:
        if function not in manager.warmed_up_functions:
            note(manager, function, what="warmed up")
        elif function not in manager.warned_functions:
            times = warmed_up_more.setdefault(manager, Counter())
            times[function] += 1
            if times[function] == _TIMES_MORE and not config.triton.force_cudagraphs_warmup:
                note(manager, function, what="skipped", reason=_STILL_ALIVE)
        return proceed(manager, inputs, function)

    def record_function(proceed: Callable[..., Any], manager: Any, inputs: Any, function: Any) -> Any:
        known = recorded.setdefault(manager, set())
        again, line = (function in known and why_again(manager, inputs, function)) or (None, None)
        known.add(function)
        began = perf_counter_ns()
        result = proceed(manager, inputs, function)
        note(manager, function, what="recorded", again=again, line=line, ns=perf_counter_ns() - began)
        return result

    def check_warn(proceed: Callable[..., Any], manager: Any, function: Any) -> Any:
        was_warned = function in manager.warned_functions
        result = proceed(manager, function)
        if function in manager.warned_functions and not was_warned:
            note(manager, function, what="skipped", reason=_NEEDS_BACKWARD)
        return result

    probes.hook(cudagraph_trees, "cudagraphify_impl", _PROBE, cudagraphify_impl)
    probes.hook(manager_class, "run_eager", _PROBE, run_eager)
    probes.hook(manager_class, "record_function", _PROBE, record_function)
    probes.hook(manager_class, "check_warn_on_unable_to_start_executing", _PROBE, check_warn)


def _compile_id_of_call() -> dict[str, int]:
    """The compile of the function that a manager is running, found on the stack."""
    for frame in frames_outwards():
        if frame.f_code.co_name == "_run" and frame.f_code.co_filename.endswith("cudagraph_trees.py"):
            return _compile_id(frame.f_locals["self"], frame.f_locals["function_id"])
    return {}


def _compile_id(manager: Any, function: Any) -> dict[str, int]:
    compile_id = manager.id_to_compile_id.get(function)
    frame, compile_ = getattr(compile_id, "frame_id", None), getattr(compile_id, "frame_compile_id", None)
    return {} if frame is None or compile_ is None else {"frame_id": frame, "frame_compile_id": compile_}


def _why_again(manager: Any, inputs: list[Any], function: Any) -> tuple[RecordedAgain, dict[str, Any] | None]:
    """Why the last recording at this place of the tree cannot be replayed, and the line that reads the input.

    As check_invariants looks, which cannot be called: it empties `inputs` where all is well.
    """
    node = manager.current_node
    earlier = (manager.roots if node is None else node.children).get(function)
    if not earlier:
        return "another order", None
    last = earlier[-1]
    moved = [
        index
        for index, address in enumerate(last.static_input_data_ptrs)
        if address is not None and inputs[index].data_ptr() != address
    ]
    if not moved:
        return "another order", None
    if moved[0] in last.cudagraph_managed_idxs:
        return "memory of an earlier graph", None
    placeholder = last.wrapped_function.placeholders[moved[0]]
    traces = (placeholder.stack_trace, *(user.stack_trace for user in placeholder.users))
    return "an input at another address", described_user_line(next(filter(None, traces), None))
