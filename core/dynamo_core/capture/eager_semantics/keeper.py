"""Keep eager's semantics for the graphs of a captured program, from when capture begins until it ends."""

import importlib
import os
import sys
import threading
from collections.abc import Callable
from functools import partial
from types import CodeType
from typing import TYPE_CHECKING, Any, NoReturn

from ...backends.compilers import copy_of_graph
from ..frames.replaced_code import put_in_place
from ..probe_guard import ProbeGuard
from ..torch_versions import set_in_every_thread
from . import graph, replay
from .exception_handlers import HandledOperation, handled_operation
from .frame_fallback import with_eager_fallback
from .graph import GraphWithEagerFallback
from .graph_facts import GraphFacts, facts_of
from .inner_outputs import patch_autograd_grad
from .observer import Notes
from .replay import exceeds_clone_limit, print_eager_node_names

if TYPE_CHECKING:
    from torch.fx import GraphModule

_OPTION = "--semantics"
_STATIC_MARK = "_dynamo_static_input_type"


class Keeper:
    """Gives each graph of a captured program its eager fallback.

    `leave_to_eager` is given code that is never to be captured, `fall_back` the option and the reason for
    which the frame that is being compiled runs in eager. `may_skip` says whether that is allowed: not where
    --fullgraph makes it an error.
    """

    def __init__(
        self,
        probes: ProbeGuard,
        leave_to_eager: Callable[[CodeType], None],
        fall_back: Callable[[str, str], None],
        *,
        may_skip: bool,
    ) -> None:
        self._probes = probes
        self._fall_back = fall_back
        self._leave_to_eager = leave_to_eager
        self._may_skip = may_skip
        self._thread = threading.local()
        installs = [patch_autograd_grad, print_eager_node_names, silence_fx_error_printing]
        if may_skip:
            installs.append(partial(leave_tensor_keys_to_eager, self.skip_frame))
        for install in installs:
            probes.guarded("eager semantics")(install)()

    def before_backend(self, gm: "GraphModule", number: int) -> GraphWithEagerFallback | None:
        """The eager fallback of a graph; None if it cannot be made.

        It is made before the backend is called, which may rewrite the graph. Raises SkipFrame if the frame is
        to run in eager, so that the program's `except` catches the errors it expects.
        """
        try:
            facts, handled = facts_of(gm), handled_operation(gm)
            frame_can_run_again = handled is None or _frame_can_run_again(gm, facts, handled)
            run = _runnable(gm)
        except Exception as error:
            self._probes.failed("eager semantics", error)
            return None
        if handled is not None and not frame_can_run_again:
            if self._may_skip:
                notes = Notes(None, self._probes)
                notes.add("caught_exception", "eager", **notes.at(handled[:2]))
                ops = sum(node.op.startswith("call_") for node in gm.graph.nodes)
                counted = "1 op" if ops == 1 else f"{ops} ops"
                self.skip_frame(
                    f"the program handles what line {handled.line} of {os.path.basename(handled.file)} may "
                    f"raise, and its graph of {counted} could not be run again in eager"
                )
            handled = None
        self._thread.frame_has_handlers |= handled is not None
        return GraphWithEagerFallback(run, facts, Notes(number, self._probes), handled)

    def skip_frame(self, reason: str) -> NoReturn:
        """Let the frame that is being compiled run in eager. Raises torch's SkipFrame."""
        from torch._dynamo.exc import SkipFrame

        self._fall_back(_OPTION, reason)
        raise SkipFrame(reason)

    def compile_frame(self, compile_: Callable[..., Any], frame: Any, *rest: Any) -> tuple[Any, bool]:
        """Dynamo's answer for a frame, and whether it can be used.

        If the frame handles what its graphs raise, the code in the answer runs it in eager where one does.
        """
        before = getattr(self._thread, "frame_has_handlers", False)
        self._thread.frame_has_handlers = False
        try:
            answer = compile_(frame, *rest)
            has_handlers = self._thread.frame_has_handlers
        finally:
            self._thread.frame_has_handlers = before
        if has_handlers and answer.guarded_code is not None:
            code = with_eager_fallback(frame.f_code, answer.guarded_code.code, frame.f_globals)
            if code is None:
                return answer, False
            put_in_place(answer.guarded_code, code, frame.f_code, self._leave_to_eager)
        return answer, True

    def remove_static_marks(self, gm: "GraphModule") -> None:
        """Delete the attribute that Dynamo sets on the program's parameters, which `vars` and pickles show.

        The backend has read it by now. Source: torch/_dynamo/decorators.py (mark_static_address).
        """
        try:
            for node in gm.graph.find_nodes(op="placeholder"):
                value = getattr(node.meta.get("grapharg"), "example", None)
                if hasattr(value, _STATIC_MARK):
                    delattr(value, _STATIC_MARK)
        except Exception as error:
            self._probes.failed("eager semantics", error)


def _frame_can_run_again(gm: "GraphModule", facts: GraphFacts, handled: HandledOperation) -> bool:
    """Whether a frame whose graph has raised can begin again in eager, with nothing changed by the graph."""
    values = [node.meta.get("example_value") for node in gm.graph.find_nodes(op="placeholder")]
    return not (
        handled.handles_interrupts
        or facts.communicates
        or facts.unsupported
        or exceeds_clone_limit(values, facts.changed)
    )


def _runnable(gm: "GraphModule") -> Callable[..., Any]:
    """The graph as a function in eager, without Dynamo's notes on its nodes: they keep fake tensors alive."""
    import torch

    copy = copy_of_graph(gm)
    for module in copy.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            node.meta.clear()
    run: Callable[..., Any] = copy.forward
    return run


_MOST_FRAMES = 40  # frames from a module of AOTAutograd's to the call of the graph, or to its backward


def silence_fx_error_printing() -> None:
    """Stop FX from printing a captured graph's errors on stderr, from here on in this process.

    The program itself gets the exception. FX still prints the errors of modules that the program traced.
    Source: torch/fx/graph_module.py (_WrappedCall.__call__), 2.8 to 2.15.
    """
    from torch.fx.graph_module import _WrappedCall

    original = _WrappedCall.__call__

    def __call__(self: Any, module: Any, *args: Any, **named: Any) -> Any:
        if not _is_called_by_captured_graph():
            return original(self, module, *args, **named)
        if self.cls_call is not None:
            return self.cls_call(module, *args, **named)
        return super(self.cls, module).__call__(*args, **named)

    _WrappedCall.__call__ = __call__  # type: ignore[assignment, method-assign]


def _is_called_by_captured_graph() -> bool:
    ours = (vars(graph), vars(replay))
    frame: Any = sys._getframe(2)
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return False
        if any(frame.f_globals is names for names in ours):
            return True
        frame = frame.f_back
    return False


def leave_tensor_keys_to_eager(skip_frame: Callable[[str], NoReturn]) -> None:
    """Let Dynamo skip frames that look tensors up in a dict or a set, from here on in this process.

    Dynamo hashes a tensor by its stand-in while tracing, and does not guard on which tensor it is: compiled
    for one parameter, `state[parameter]` gives that one's value for every other parameter. Source:
    torch/_dynamo/variables/hashable.py (HashableTracker), before torch 2.13 in dicts.py.

    A module's own walk over its parameters, which keeps them in a set of its own, is none of these.
    """
    tracker = _tracker_class()
    original = tracker.__init__

    def __init__(self: Any, vt: Any) -> None:
        if _is_tensor(vt) and not _is_traced_in_modules():
            skip_frame(
                "it looks up a tensor in a dict or a set, and compiled code would find the entry of the "
                "tensor that it was compiled for"
            )
        original(self, vt)

    tracker.__init__ = __init__


def _is_traced_in_modules() -> bool:
    """Whether the innermost function that is being traced is one of torch/nn/modules/module.py."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        code = getattr(frame.f_locals.get("self"), "f_code", None)
        if isinstance(code, CodeType) and frame.f_code.co_filename.endswith("symbolic_convert.py"):
            return code.co_filename.endswith("torch/nn/modules/module.py")
        frame = frame.f_back
    return False


def _tracker_class() -> Any:
    for module, names in (
        ("torch._dynamo.variables.hashable", ("HashableTracker",)),
        ("torch._dynamo.variables.dicts", ("HashableTracker", "_HashableTracker")),
    ):
        try:
            found: Any = importlib.import_module(module)
        except ImportError:
            continue
        for owner in (found, getattr(found, "ConstDictVariable", None)):
            for name in names:
                if hasattr(owner, name):
                    return getattr(owner, name)
    raise AttributeError("torch._dynamo has no HashableTracker")


def _is_tensor(variable: Any) -> bool:
    import torch
    from torch._dynamo.variables import LazyVariableTracker, TensorVariable

    if isinstance(variable, LazyVariableTracker) and not variable.is_realized():
        return isinstance(variable.peek_value(), torch.Tensor)
    return isinstance(variable.realize(), TensorVariable)


# A pass for Inductor: what a graph writes to its inputs at its end is all read before the first write.
#
# AOTAutograd puts a `copy_` for each changed input at the end of a graph. Inductor drops a clone that is only
# written to an input; the `copy_` then reads another input, which one before it may have changed: `a[:], b[:]
# = b.clone(), a.clone()` leaves both the same. Source: torch/_inductor/fx_passes/post_grad.py
# (remove_noop_ops; post_grad_passes, which calls this pass behind it), torch/_inductor/custom_graph_pass.py,
# read and run in 2.13; pytorch/pytorch pull request 198132.


def read_before_writing() -> Callable[[], None]:
    """Install the pass in Inductor unless the program has set one; returns the function that removes it."""
    import torch._inductor.config as inductor_config

    if inductor_config.post_grad_custom_post_pass is not None:
        return lambda: None
    return set_in_every_thread(inductor_config, "post_grad_custom_post_pass", _inductor_pass())


def clone_reads_of_changed_inputs(graph: Any) -> None:
    """Clone, ahead of all writes, each value that shares memory with an input changed before it is read."""
    import torch

    writes = list(graph.find_nodes(op="call_function", target=torch.ops.aten.copy_.default))
    changed: set[int | None] = set()
    for write in writes:
        target, value, *others = write.args
        if _memory(value) in changed - {None}:
            with graph.inserting_before(writes[0]):
                clone = graph.call_function(torch.ops.aten.clone.default, (value,))
            clone.meta["val"] = value.meta["val"].clone()
            write.args = (target, clone, *others)
        changed.add(_memory(target))


def _memory(node: Any) -> int | None:
    import torch

    value = node.meta.get("val") if isinstance(node, torch.fx.Node) else None
    if not isinstance(value, torch.Tensor) or not torch._C._has_storage(value):
        return None
    identity: int = value.untyped_storage()._cdata
    return identity


def _inductor_pass() -> Any:
    from torch._inductor.custom_graph_pass import CustomGraphPass

    class ReadBeforeWriting(CustomGraphPass):
        def __call__(self, graph: Any) -> None:
            clone_reads_of_changed_inputs(graph)

        def uuid(self) -> str:
            """The pass's part of the keys of Inductor's caches."""
            return "dynamo: read before writing, 1"

    return ReadBeforeWriting()
