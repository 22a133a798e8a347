"""Inner outputs: outputs of a compiled graph from which other outputs of the graph are computed.

In eager, gradients flow from one to the other, past hooks, `retain_grad` and `torch.autograd.grad`. A
compiled graph is one autograd node: both are outputs of that node, and nothing flows between them.

Source: torch/_tensor.py (register_hook, which calls `_register_hook_dict` of the node),
torch/autograd/__init__.py (grad, which calls `_engine_run_backward` of its module). 2.8 to 2.15.
"""

from collections.abc import Sequence
from typing import Any

from .replay import Call, CannotReplay, call_of

# torch's own message: torch/csrc/autograd/python_engine.cpp (THPEngine_run_backward).
_UNUSED = (
    "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True "
    "if this is the desired behavior."
)


def note_inner_outputs(call: Call, outputs: Sequence[Any]) -> None:
    """Remember the inner outputs of a call, by weak references."""
    from torch.utils.weak import TensorWeakRef

    function = call.graph.function
    assert function is not None  # the call's node has just been found
    call.inner = [
        (function.positions[i], TensorWeakRef(outputs[i]))
        for i in call.graph.facts.inner
        if i in function.positions and i not in function.through_base
    ]


def wants_inner_gradients(call: Call) -> bool:
    """Whether the program needs the gradient of an inner output: for a hook, or by `retain_grad`."""
    if call.hooks:
        return True
    return any(_retains_gradient(reference()) for _, reference in call.inner)


def complete_retained_gradients(call: Call, gradients: Sequence[Any], inner_gradients: Sequence[Any]) -> None:
    """Complete the gradients that inner outputs retain: torch gave them only those from outside the node."""
    import torch

    for (position, reference), gradient in zip(call.inner, inner_gradients, strict=True):
        output = reference()
        if gradient is None or not _retains_gradient(output):
            continue
        given = gradients[position]
        with torch.no_grad():
            if output.grad is None or (given is not None and torch.equal(output.grad, given)):
                output.grad = gradient
            else:
                output.grad = output.grad + (gradient if given is None else gradient - given)


def intercept_hooks(node_class: Any) -> None:
    """Keep hooks on outputs for the replay in eager, which calls them with the complete gradient, if any."""
    original = node_class._register_hook_dict

    def register(node: Any, tensor: Any) -> None:
        call = call_of(node)
        if call is not None and tensor.output_nr in call.positions():
            call.hooks.append((tensor.output_nr, tensor._backward_hooks))
        else:
            original(node, tensor)

    node_class._register_hook_dict = register


def patch_autograd_grad() -> None:
    """Let `torch.autograd.grad` compute gradients of inner outputs as well; to be called once per process."""
    import torch

    original = torch.autograd._engine_run_backward

    def _engine_run_backward(
        outputs: Any,
        gradients: Any,
        retain: bool,
        create: bool,
        inputs: Sequence[Any],
        *rest: Any,
        **named: Any,
    ) -> Any:
        calls = [_call_of_inner(value) for value in inputs]
        if not any(calls) or named.get("accumulate_grad", True):
            return original(outputs, gradients, retain, create, inputs, *rest, **named)
        return _gradients_with_inner(
            original, outputs, gradients, retain, create, inputs, calls, *rest, **named
        )

    torch.autograd._engine_run_backward = _engine_run_backward  # type: ignore[assignment]


def _gradients_with_inner(
    original: Any,
    outputs: Any,
    gradients: Any,
    retain: bool,
    create: bool,
    inputs: Sequence[Any],
    calls: Sequence[Call | None],
    allow_unused: bool = False,
    **named: Any,
) -> tuple[Any, ...]:
    """The gradients of `inputs`, where those with a call are inner outputs.

    In their place the gradients of their nodes' outputs are computed, from which a replay goes on in eager.
    """
    from torch.autograd.graph import GradientEdge

    nodes = {value.grad_fn: call for value, call in zip(inputs, calls, strict=True) if call is not None}
    edges = [GradientEdge(node, position) for node, call in nodes.items() for position in call.positions()]
    replays = {}
    try:
        for node, inner_call in nodes.items():
            replays[node] = inner_call.replayed()
    except CannotReplay:
        return tuple(original(outputs, gradients, retain, create, inputs, allow_unused, **named))
    others = [value for value, call in zip(inputs, calls, strict=True) if call is None]
    found = list(original(outputs, gradients, retain, create, (*others, *edges), True, **named))
    other_gradients, edge_gradients = found[: len(others)], found[len(others) :]
    given = {
        (edge.node, edge.output_nr): gradient for edge, gradient in zip(edges, edge_gradients, strict=True)
    }
    result = []
    for value, of_inner in zip(inputs, calls, strict=True):
        if of_inner is None:
            result.append(other_gradients.pop(0))
            continue
        node = value.grad_fn
        of_inner.graph.leave_to_eager("inner_gradient")
        node_gradients = [given.get((node, position)) for position in range(1 + max(of_inner.positions()))]
        _, (gradient,) = replays[node].gradients(
            node_gradients, retain=True, create=create, inner=[value.output_nr]
        )
        result.append(gradient)
    if not allow_unused and any(gradient is None for gradient in result):
        raise RuntimeError(_UNUSED)
    return tuple(result)


def _call_of_inner(value: Any) -> Call | None:
    call: Call | None = call_of(getattr(value, "grad_fn", None))
    if call is None or value.output_nr not in {position for position, _ in call.inner}:
        return None
    return call


def _retains_gradient(output: Any) -> bool:
    return output is not None and bool(output.retains_grad)
