"""Keep eager's semantics for the graphs of a captured program, from when capture begins until it ends."""

import ast
import functools
import importlib
import linecache
import sys
from collections.abc import Callable
from typing import Any

from ...backends.compilers import copy_of_graph
from ..frames.program_files import is_own
from ..frames.source import user_lines
from ..probe_guard import ProbeGuard
from . import graph, replay
from .graph import GraphWithEagerFallback
from .graph_facts import facts_of
from .inner_outputs import patch_autograd_grad
from .observer import Notes
from .replay import print_eager_node_names

_STATIC_MARK = "_dynamo_static_input_type"


class Keeper:
    """Gives each graph of a captured program its eager fallback.

    `may_skip` says whether a frame may be left to eager: not where --fullgraph makes that an error.
    """

    def __init__(self, probes: ProbeGuard, *, may_skip: bool) -> None:
        self._probes = probes
        self._may_skip = may_skip
        installs = [patch_autograd_grad, print_eager_node_names, silence_fx_error_printing]
        for install in installs + ([leave_tensor_keys_to_eager] if may_skip else []):
            probes.guarded("eager semantics")(install)()

    def before_backend(self, gm: Any, number: int) -> GraphWithEagerFallback | None:
        """The eager fallback of a graph; None if it cannot be made.

        It is made before the backend is called, which may rewrite the graph. Raises SkipFrame if the frame is
        to run in eager, so that the program's `except` catches the errors it expects.
        """
        from torch._dynamo.exc import SkipFrame

        place = self._place_of_operation_in_try(gm) if self._may_skip else None
        if place is not None:
            notes = Notes(None, self._probes)
            notes.add("caught_exception", "eager", **notes.at(place))
            raise SkipFrame(f"left to eager: {place[0]}:{place[1]} is in a `try`, which a graph would miss")
        try:
            return GraphWithEagerFallback(_runnable(gm), facts_of(gm), Notes(number, self._probes))
        except Exception as error:
            self._probes.failed("eager semantics", error)
            return None

    def remove_static_marks(self, gm: Any) -> None:
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

    def _place_of_operation_in_try(self, gm: Any) -> tuple[str, int] | None:
        try:
            return place_of_operation_in_try(gm)
        except Exception as error:
            self._probes.failed("eager semantics", error)
            return None


def _runnable(gm: Any) -> Callable[..., Any]:
    """The graph as a function in eager, without Dynamo's notes on its nodes: they keep fake tensors alive."""
    import torch

    copy = copy_of_graph(gm)
    for module in copy.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            node.meta.clear()
    run: Callable[..., Any] = copy.forward
    return run


def place_of_operation_in_try(gm: Any) -> tuple[str, int] | None:
    """The file and line of an operation in the body of a `try`, if the graph has one.

    Dynamo's bytecode calls a graph at its beginning, before any `try` of the frame: what the graph raises for
    its data (a matrix that is not positive definite, an index out of range) would not reach the `except` and
    `finally` around the operation. A `finally` counts only in the program's own files: in libraries it
    usually tidies up around whole models.
    """
    for node in gm.graph.nodes:
        if node.op.startswith("call_"):
            for file, line in user_lines(node.meta.get("stack_trace")):
                if "/torch/" not in file and any(a <= line <= b for a, b in _lines_in_try(file)):
                    return file, line
    return None


@functools.lru_cache(maxsize=1000)
def _lines_in_try(file: str) -> list[tuple[int, int]]:
    source = "".join(linecache.getlines(file))
    if "try:" not in source:
        return []
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    return [
        (node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.Try) and (node.handlers or is_own(file))
    ]


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

    _WrappedCall.__call__ = __call__


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


def leave_tensor_keys_to_eager() -> None:
    """Let Dynamo skip frames that look tensors up in a dict or a set, from here on in this process.

    Dynamo hashes a tensor by its stand-in while tracing, and does not guard on which tensor it is: compiled
    for one parameter, `state[parameter]` gives that one's value for every other parameter. Source:
    torch/_dynamo/variables/hashable.py (HashableTracker), before torch 2.13 in dicts.py.
    """
    from torch._dynamo.exc import SkipFrame

    tracker = _tracker_class()
    original = tracker.__init__

    def __init__(self: Any, vt: Any) -> None:
        if _is_tensor(vt):
            raise SkipFrame(
                "left to eager: it looks up a tensor in a dict or a set, which torch.compile mistakes"
            )
        original(self, vt)

    tracker.__init__ = __init__


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
    inductor_config.post_grad_custom_post_pass = _inductor_pass()

    def restore() -> None:
        inductor_config.post_grad_custom_post_pass = None

    return restore


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

    class ReadBeforeWriting(CustomGraphPass):  # type: ignore[misc]
        def __call__(self, graph: Any) -> None:
            clone_reads_of_changed_inputs(graph)

        def uuid(self) -> str:
            """The pass's part of the keys of Inductor's caches."""
            return "dynamo: read before writing, 1"

    return ReadBeforeWriting()
