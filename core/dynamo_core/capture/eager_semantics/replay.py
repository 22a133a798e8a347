"""A call of a compiled graph, replayed in eager when its backward needs eager's gradients.

Also here: what a replay needs to begin as the call did, the autograd node of a compiled graph, and the names
by which tensors print that node.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from ...backends.agreement import RandomState

if TYPE_CHECKING:
    from .graph import GraphWithEagerFallback


# Of the inputs changed in place: enough for running statistics, not for a key-value cache.
_MOST_BYTES_CLONED = 16 << 20


class CannotReplay(Exception):
    """The call cannot be replayed in eager: its inputs have changed, or other processes take part in it."""


@contextmanager
def not_captured() -> Iterator[None]:
    """Offer no frame to Dynamo while this context is entered, so that a replay is not captured.

    Source: torch/_dynamo/eval_frame.py (DisableContext), 2.8 to 2.15.
    """
    from torch._C._dynamo.eval_frame import set_eval_frame

    callback = set_eval_frame(None)
    try:
        yield
    finally:
        set_eval_frame(callback)


class AutocastState:
    """Autocast as it is when this is created, for graphs that a backward replays: as in the forward."""

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
    """What is needed to replay a call: the random number generators' states, clones of changed inputs.

    Inputs are cloned up to a total size, or whatever their size if the replay `is_required`.
    """

    def __init__(
        self, arguments: Sequence[Any], changed: Sequence[int], *, draws: bool, is_required: bool = False
    ) -> None:
        self._arguments = arguments
        self.random_state = RandomState(arguments) if draws else None
        self._clones = _clones(arguments, changed, math.inf if is_required else _MOST_BYTES_CLONED)

    def restore(self) -> None:
        """Restore the inputs that were changed in place, and the generators; CannotReplay without clones."""
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
    if _size(arguments, changed) > most_bytes:
        return None
    return {index: arguments[index].detach().clone() for index in changed}


def _size(arguments: Sequence[Any], changed: Sequence[int]) -> int:
    """The size in bytes of the inputs that are changed."""
    return sum(int(arguments[i].numel() * arguments[i].element_size()) for i in changed)


def exceeds_clone_limit(arguments: Sequence[Any], changed: Sequence[int]) -> bool:
    """Whether the inputs that are changed are too large to be cloned before each call."""
    return _size(arguments, changed) > _MOST_BYTES_CLONED


def run_in_eager(run: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """Run the graph in eager on the program's own inputs, uncaptured.

    If it raises between two nodes that switch gradients off and on, the gradient mode is restored.
    """
    import torch

    grad_enabled = torch.is_grad_enabled()
    with not_captured():
        try:
            return run(*arguments)
        except BaseException:
            torch._C._set_grad_enabled(grad_enabled)
            raise


class Call:
    """One call of a compiled graph whose backward may follow; it is stored on the call's autograd node.

    `is_spent` is set after a backward that freed what a further one needs, `is_differentiated` once gradients
    of its gradients may be requested. `inner` are the inner outputs: positions, and weak references to them.
    `hooks` are the hooks that the program registered on such outputs, by position.
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
        self.inner: list[tuple[int, Any]] = []
        self.hooks: list[tuple[int, Any]] = []

    def positions(self) -> list[int]:
        """The positions of the node's outputs that can receive gradients."""
        function = self.graph.function
        assert function is not None  # else no node would hold this call
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
    """Eager's autograd graph for a call, which allows, frees and raises exactly what eager does."""

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
                # Views: gradients of gradients reach the program's tensors, without calling their hooks.
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
        # Edges, not tensors: autograd gives a view a new node if the program writes to its base in place.
        self._trained = {
            i: get_gradient_edge(value)
            for i, value in enumerate(inputs)
            if isinstance(value, torch.Tensor) and value.requires_grad
        }
        self._inputs = len(inputs)
        function = graph.function
        assert function is not None  # else no node would have led to this call
        self.by_position: dict[int, Any] = {}
        for index, position in function.positions.items():
            output = outputs[index]
            self.by_position[position] = output._base if index in function.through_base else output
        for position, hooks in call.hooks:
            self.by_position[position].register_hook(
                lambda gradient, hooks=hooks: _after_hooks(hooks, gradient)
            )

    def gradients(
        self, output_gradients: Sequence[Any], *, retain: bool, create: bool, inner: Sequence[int] = ()
    ) -> tuple[list[Any], list[Any]]:
        """The gradients of the inputs, and of the outputs at positions `inner`; None where eager has none."""
        import torch

        given = [
            (self.by_position[position], gradient)
            for position, gradient in enumerate(output_gradients)
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
        input_gradients: list[Any] = [None] * self._inputs
        for index, gradient in zip(self._trained, found, strict=False):
            input_gradients[index] = gradient
        return input_gradients, list(found[len(self._trained) :])


def _after_hooks(hooks: Any, gradient: Any) -> Any:
    """The gradient after a tensor's hooks, called as torch does: each may replace it."""
    for hook in list(hooks.values()):
        replaced = hook(gradient)
        gradient = gradient if replaced is None else replaced
    return gradient


# The autograd node of a graph that AOTAutograd compiled, and how its backward is replaced.
#
# Source: torch/_functorch/_aot_autograd/runtime_wrappers.py (class CompiledFunction, a new one for each
# graph), torch/autograd/function.py (BackwardCFunction.apply, which looks `backward` up at each call),
# torch/csrc/autograd/python_function.cpp (PyNode::apply, which fills in zeros for missing gradients unless
# `set_materialize_grads(False)` was called). Read in 2.8 to 2.15; run with 2.8, 2.13 and 2.15.

_NODE = "CompiledFunctionBackward"
_CALL = "dynamo_call"

# Takes the node, the call that created it, and the gradients of its outputs, None for a missing one.
Backward = Callable[[Any, Any, list[Any]], Any]


class AotFunction:
    """The autograd function of a compiled graph, from the node of one call of it.

    `positions` maps outputs of the graph to outputs of the node. For those in `through_base`, the node's
    output is the base of the graph's output, which AOTAutograd recreates as a view.
    """

    def __init__(self, node: Any, outputs: Sequence[Any]) -> None:
        self._class = type(node)._forward_cls
        self.positions: dict[int, int] = {}
        self.through_base: set[int] = set()
        for index, output in enumerate(outputs):
            if getattr(output, "grad_fn", None) is node:
                self.positions[index] = output.output_nr
            elif _base_of(output, node) is not None:
                self.positions[index] = output._base.output_nr
                self.through_base.add(index)

    def owns(self, node: Any) -> bool:
        """Whether the node was created by a call of this function."""
        return type(node)._forward_cls is self._class

    def replace_backward(self, backward: Backward) -> None:
        """Let `backward` compute the gradients of calls stored by `note_call`; it may call `original`."""
        function_class = self._class
        self._original = function_class.backward
        self._is_boxed = getattr(function_class, "boxed_grads_call", False)  # from torch 2.13 on

        def taken_over(node: Any, *gradients: Any) -> Any:
            given = list(gradients[0] if self._is_boxed and isinstance(gradients[0], list) else gradients)
            call = getattr(node, _CALL, None)
            return self.original(node, given) if call is None else backward(node, call, given)

        function_class.backward = staticmethod(taken_over)

    def original(self, node: Any, gradients: Sequence[Any]) -> Any:
        """torch's own backward of the node, with zeros for missing gradients."""
        given = [_zeros_if_missing(node, index, value) for index, value in enumerate(gradients)]
        return self._original(node, given) if self._is_boxed else self._original(node, *given)


def node_of(outputs: Sequence[Any]) -> Any:
    """The autograd node of AOTAutograd that the outputs, or their bases, come from; None without one."""
    for output in outputs:
        node = getattr(output, "grad_fn", None)
        if type(node).__name__ == _NODE:
            return node
        base = None if node is None else output._base
        if base is not None and type(base.grad_fn).__name__ == _NODE:
            return base.grad_fn
    return None


def note_call(node: Any, call: Any) -> None:
    """Store the call on its node, and let the node's backward see which gradients are missing."""
    node.set_materialize_grads(False)
    setattr(node, _CALL, call)


def call_of(node: Any) -> Any:
    """The call stored on an autograd node; None for other nodes, and once the call was forgotten."""
    return getattr(node, _CALL, None)


def forget_call(node: Any) -> None:
    """Release what was stored on the node for a further backward."""
    setattr(node, _CALL, None)


def is_aligned(node: Any, arguments: Sequence[Any]) -> bool:
    """Whether the node's inputs are exactly the graph's: AOTAutograd may have replaced some of them."""
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


# A tensor's repr shows the name of its autograd node, which must be eager's, not the compiled graph's.
#
# Source: torch/_tensor_str.py (_str, which Tensor.__repr__ calls, and which reads the class of `grad_fn`).
# Dynamo's fake tensors went through eager's autograd, so their nodes have eager's names. 2.8 to 2.15.

_NAMES = "dynamo_names_in_eager"


def set_eager_node_names(node_class: Any, names: dict[int, str]) -> None:
    """Store the name of eager's node for each output of a compiled graph's node."""
    setattr(node_class, _NAMES, names)


def print_eager_node_names() -> None:
    """Print backward functions by their names in eager, from here on in this process."""
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

    tensor_str._str = _str  # type: ignore[assignment]


def _eager_node_name(node: Any, tensor: Any) -> str | None:
    names: dict[int, str] | None = getattr(type(node), _NAMES, None)
    return None if names is None else names.get(tensor.output_nr)
