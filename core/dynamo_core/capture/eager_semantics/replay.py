"""One call of a compiled graph that autograd may come back to, and the same call made again in eager."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from ...backends.agreement import RandomState

if TYPE_CHECKING:
    from .graph import GraphWithEagerFallback


# Running a captured graph in eager, out of the capture's sight.


_MOST_BYTES_CLONED = 16 << 20  # of what a graph changes in place: running statistics, not a cache of keys


class CannotReplay(Exception):
    """The call cannot be made again: its inputs are no longer what they were."""


@contextmanager
def not_captured() -> Iterator[None]:
    """No frame in here is offered to Dynamo.

    Source: torch/_dynamo/eval_frame.py (DisableContext), 2.8 to 2.15.
    """
    from torch._C._dynamo.eval_frame import set_eval_frame

    callback = set_eval_frame(None)
    try:
        yield
    finally:
        set_eval_frame(callback)


class AutocastState:
    """Autocast as it is now: a graph that runs again in the backward runs as it did in the forward."""

    def __init__(self, devices: Sequence[str]) -> None:
        import torch

        self._states = [
            (device, torch.is_autocast_enabled(device), torch.get_autocast_dtype(device))
            for device in devices
            if torch.amp.is_autocast_available(device)
        ]

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Enter the state that was recorded, with gradients on."""
        import torch

        with ExitStack() as stack:
            for device, enabled, dtype in self._states:
                stack.enter_context(torch.autocast(device, dtype=dtype, enabled=enabled, cache_enabled=False))
            stack.enter_context(torch.enable_grad())
            yield


class StateBefore:
    """What a call of a graph needs to be made again: generators, and clones of what it changes.

    Those are made up to a size, unless the call `must_be_possible` to make again.
    """

    def __init__(
        self, arguments: Sequence[Any], changed: Sequence[int], *, draws: bool, must_be_possible: bool = False
    ) -> None:
        self._arguments = arguments
        self.random_state = RandomState(arguments) if draws else None
        self._clones = _clones(arguments, changed, math.inf if must_be_possible else _MOST_BYTES_CLONED)

    def restore(self) -> None:
        """Put the inputs that were changed in place, and the generators, back to what they were.

        CannotReplay if that is not possible.
        """
        import torch

        if self._clones is None:
            raise CannotReplay
        with torch.no_grad():
            for index, clone in self._clones.items():
                self._arguments[index].copy_(clone)
        if self.random_state is not None:
            self.random_state.restore()

    def inputs_changed(self) -> dict[int, Any]:
        """Clones of the inputs that were changed, as they were before; CannotReplay if there are none."""
        if self._clones is None:
            raise CannotReplay
        return {index: clone.clone() for index, clone in self._clones.items()}


def _clones(arguments: Sequence[Any], changed: Sequence[int], most_bytes: float) -> dict[int, Any] | None:
    if not changed:
        return {}
    if sum(arguments[i].numel() * arguments[i].element_size() for i in changed) > most_bytes:
        return None
    return {index: arguments[index].detach().clone() for index in changed}


def run_in_eager(run: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """The graph on the program's own inputs: what eager would have done, the same in every respect.

    Where it raises between two nodes that switch gradients off and on, they are as they were before.
    """
    import torch

    grad_enabled = torch.is_grad_enabled()
    with not_captured():
        try:
            return run(*arguments)
        except BaseException:
            torch._C._set_grad_enabled(grad_enabled)
            raise


# One call of a compiled graph that autograd may come back to, and the same call made again in eager.


class Call:
    """Kept on the autograd node.

    `is_spent` after a backward that freed what it needs; `is_differentiated` when gradients of its gradients
    may be asked for.
    """

    __slots__ = (
        "arguments",
        "before",
        "graph",
        "hooks",
        "inner",
        "is_differentiated",
        "is_spent",
        "replay",
        "versions",
    )

    def __init__(
        self, graph: "GraphWithEagerFallback", arguments: Sequence[Any], before: StateBefore | None
    ) -> None:
        self.graph = graph
        self.arguments = arguments
        self.before = before
        self.versions = [arguments[i]._version for i in graph.watched_inputs]
        self.is_spent = self.is_differentiated = False
        self.replay: Replay | None = None
        self.inner: list[
            tuple[int, Any]
        ] = []  # outputs on which others depend: which, weak references to them
        self.hooks: list[tuple[int, Any]] = []  # those that the program registered on such outputs

    def positions(self) -> list[int]:
        """The outputs of the node that gradients may come to, by number."""
        function = self.graph.function
        assert function is not None  # else there is no node that has this call
        return sorted(set(function.positions.values()))

    def replayed(self) -> "Replay":
        """The graph in eager on the same inputs, with gradients; CannotReplay if they are not the same."""
        if self.replay is None:
            if self.graph.facts.communicates:
                raise CannotReplay
            for index, version in zip(self.graph.watched_inputs, self.versions, strict=True):
                if self.arguments[index]._version != version:
                    raise CannotReplay
            self.replay = Replay(self)
        return self.replay


class Replay:
    """Eager's own graph of autograd for a call: what it allows, frees and raises is what eager does."""

    def __init__(self, call: Call) -> None:
        import torch
        from torch.autograd.graph import get_gradient_edge

        graph = call.graph
        before = call.before
        restored = {} if before is None else before.inputs_changed()
        now = None
        if before is not None and before.random_state is not None:
            now = type(before.random_state)(call.arguments)
            before.random_state.restore()
        try:
            with not_captured(), graph.modes.entered():
                # Views: gradients of gradients reach the program's tensors, and hooks on them are not called.
                inputs = [
                    restored[index]
                    if index in restored
                    else value.view_as(value)
                    if isinstance(value, torch.Tensor) and value.requires_grad
                    else value
                    for index, value in enumerate(call.arguments)
                ]
                outputs = graph.as_list(graph.run(*inputs))
        finally:
            if now is not None:
                now.restore()
        # Edges, not tensors: a view of what the program writes in place is given a new node by autograd.
        self._trained = {
            i: get_gradient_edge(value)
            for i, value in enumerate(inputs)
            if isinstance(value, torch.Tensor) and value.requires_grad
        }
        self._inputs = len(inputs)
        function = graph.function
        assert function is not None  # else there is no node that would come back to this call
        self.by_position: dict[int, Any] = {}
        for index, position in function.positions.items():
            output = outputs[index]
            self.by_position[position] = output._base if index in function.through_base else output
        for position, hooks in call.hooks:
            self.by_position[position].register_hook(
                lambda gradient, hooks=hooks: _after_hooks(hooks, gradient)
            )

    def gradients(
        self, of_outputs: Sequence[Any], *, retain: bool, create: bool, inner: Sequence[int] = ()
    ) -> tuple[list[Any], list[Any]]:
        """From the gradients of the outputs those of the inputs, and of the outputs at the positions `inner`.

        None where eager has none.
        """
        import torch

        given = [
            (self.by_position[position], gradient)
            for position, gradient in enumerate(of_outputs)
            if gradient is not None and position in self.by_position
        ]
        wanted = [*self._trained.values(), *(self.by_position[position] for position in inner)]
        found: Sequence[Any] = [None] * len(wanted)
        if given and wanted:
            outputs, gradients = zip(*given, strict=True)
            with not_captured():
                found = torch.autograd.grad(
                    outputs, wanted, gradients, retain_graph=retain, create_graph=create, allow_unused=True
                )
        of_inputs: list[Any] = [None] * self._inputs
        for index, gradient in zip(self._trained, found, strict=False):
            of_inputs[index] = gradient
        return of_inputs, list(found[len(self._trained) :])


def _after_hooks(hooks: Any, gradient: Any) -> Any:
    """The gradient after a tensor's hooks, called as torch does: each may replace it."""
    for hook in list(hooks.values()):
        replaced = hook(gradient)
        gradient = gradient if replaced is None else replaced
    return gradient


# The autograd node of a graph that AOTAutograd compiled, and how its backward is taken over.
#
# Source: torch/_functorch/_aot_autograd/runtime_wrappers.py (class CompiledFunction, made anew for each
# graph), torch/autograd/function.py (BackwardCFunction.apply, which looks `backward` up at each call),
# torch/csrc/autograd/python_function.cpp (PyNode::apply, which makes zeros of missing gradients unless told
# otherwise). Read in 2.8 to 2.15; run with 2.8, 2.13 and 2.15.


_NODE = "CompiledFunctionBackward"
_CALL = "dynamo_call"

# Takes the node, the call that made it, and the gradients of its outputs, None where there is none.
Backward = Callable[[Any, Any, list[Any]], Any]


class AotFunction:
    """The node's class: `positions` are the node's outputs by output of the graph."""

    def __init__(self, node: Any, outputs: Sequence[Any]) -> None:
        self._class = type(node)._forward_cls
        # A view that AOTAutograd makes again of what the node gave has that as its base.
        self.positions: dict[int, int] = {}
        self.through_base: set[int] = set()
        for index, output in enumerate(outputs):
            if getattr(output, "grad_fn", None) is node:
                self.positions[index] = output.output_nr
            elif _base_of(output, node) is not None:
                self.positions[index] = output._base.output_nr
                self.through_base.add(index)

    def owns(self, node: Any) -> bool:
        """Whether this is a call of the function."""
        return type(node)._forward_cls is self._class

    def replace_backward(self, backward: Backward) -> None:
        """From here on, `backward` answers for calls that have been noted; it may ask `original`."""
        function_class = self._class
        self._original = function_class.backward
        self._is_boxed = getattr(function_class, "boxed_grads_call", False)  # from torch 2.13 on

        def taken_over(node: Any, *gradients: Any) -> Any:
            given = list(gradients[0] if self._is_boxed and isinstance(gradients[0], list) else gradients)
            call = getattr(node, _CALL, None)
            return self.original(node, given) if call is None else backward(node, call, given)

        function_class.backward = staticmethod(taken_over)

    def original(self, node: Any, gradients: Sequence[Any]) -> Any:
        """What torch does: with zeros where there is no gradient."""
        given = [_zeros_if_missing(node, index, value) for index, value in enumerate(gradients)]
        return self._original(node, given) if self._is_boxed else self._original(node, *given)


def node_of(outputs: Sequence[Any]) -> Any:
    """The node that a graph's outputs come from, or their bases; None if there is none."""
    for output in outputs:
        node = getattr(output, "grad_fn", None)
        if type(node).__name__ == _NODE:
            return node
        base = None if node is None else output._base
        if base is not None and type(base.grad_fn).__name__ == _NODE:
            return base.grad_fn
    return None


def note_call(node: Any, call: Any) -> None:
    """Let the node's backward know which call it belongs to, and which gradients are missing."""
    node.set_materialize_grads(False)
    setattr(node, _CALL, call)


def call_of(node: Any) -> Any:
    """The call noted on a node of autograd, if it is one of ours and its backward is still ahead."""
    return getattr(node, _CALL, None)


def forget_call(node: Any) -> None:
    """Let go of what was kept for a further backward."""
    setattr(node, _CALL, None)


def is_aligned(node: Any, arguments: Sequence[Any]) -> bool:
    """Whether the node's inputs are the graph's, one for one: AOTAutograd may have replaced some."""
    import torch

    if len(node.needs_input_grad) != len(arguments):
        return False
    tensors = [value for value in arguments if isinstance(value, torch.Tensor)]
    edges = [edge for edge, _ in node.next_functions]
    if len(edges) != len(tensors):
        return False
    for value, edge in zip(tensors, edges, strict=True):
        if edge is None:
            continue
        is_same = (
            edge is value.grad_fn if value.grad_fn is not None else getattr(edge, "variable", None) is value
        )
        if not (value.requires_grad and is_same):
            return False
    return True


def _base_of(output: Any, node: Any) -> Any:
    base = None if getattr(output, "grad_fn", None) is None else output._base
    return base if base is not None and base.grad_fn is node else None


def _zeros_if_missing(node: Any, index: int, gradient: Any) -> Any:
    import torch

    if gradient is not None:
        return gradient
    metadata = node._input_metadata[index]
    return torch.zeros(tuple(metadata.shape), dtype=metadata.dtype, device=metadata.device)


# A tensor prints the name of its node of autograd: eager's, not that of the compiled graph.
#
# Source: torch/_tensor_str.py (_str, which Tensor.__repr__ calls, and which asks for the class of `grad_fn`);
# Dynamo's fake tensors have been through eager's autograd, and know eager's names. 2.8 to 2.15.


_NAMES = "dynamo_names_in_eager"


def set_eager_node_names(node_class: Any, names: dict[int, str]) -> None:
    """The name of eager's node for each output of a compiled graph's."""
    setattr(node_class, _NAMES, names)


def print_eager_node_names() -> None:
    """Print backward functions by the names that they have in eager, from here on in this process."""
    import torch._tensor_str as tensor_str

    original: Callable[..., str] = tensor_str._str

    def _str(tensor: Any, **named: Any) -> str:
        node = tensor.grad_fn if tensor.requires_grad and not tensor.is_leaf else None
        name = _eager_node_name(node, tensor)
        if name is None:
            return original(tensor, **named)
        node_class = type(node)
        own_name, node_class.__name__ = node_class.__name__, name
        try:
            return original(tensor, **named)
        finally:
            node_class.__name__ = own_name

    tensor_str._str = _str


def _eager_node_name(node: Any, tensor: Any) -> str | None:
    names: dict[int, str] | None = getattr(type(node), _NAMES, None)
    return None if names is None else names.get(tensor.output_nr)
