"""The autograd node of a graph that AOTAutograd compiled, and how its backward is taken over.

Source: torch/_functorch/_aot_autograd/runtime_wrappers.py (class CompiledFunction, made anew for each graph),
torch/autograd/function.py (BackwardCFunction.apply, which looks `backward` up at each call),
torch/csrc/autograd/python_function.cpp (PyNode::apply, which makes zeros of missing gradients unless told
otherwise). Read in 2.8 to 2.15; run with 2.8, 2.13 and 2.15.
"""

from collections.abc import Callable, Sequence
from typing import Any

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

    def made(self, node: Any) -> bool:
        """Whether this is a call of the function."""
        return type(node)._forward_cls is self._class

    def take_over(self, backward: Backward) -> None:
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
