"""The program's own backward of a verified call: a gradient of zeros where eager has none is a difference.

An output that no loss uses has no gradient, and nor have, in eager, the inputs that lead to it alone.
AOTAutograd makes zeros of them, which an optimizer takes for gradients. Source: as `aot_function.py`;
torch/csrc/autograd/engine.cpp calls a node's hooks before and after it.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ...backends.agreement import Comparison
from ..eager_semantics.aot_function import AotFunction, is_aligned, node_of
from ..eager_semantics.eager_run import not_captured
from .verified_call import CallBefore, as_list, names_of_inputs, runner, unnoticed


def watch_missing_gradients(
    before: CallBefore,
    gm: Any,
    arguments: Sequence[Any],
    result: Any,
    report: Callable[[Comparison], None],
) -> None:
    """When autograd comes to this call, `report` the first gradient that eager would not have."""
    import torch

    outputs = as_list(result)
    node = node_of(outputs)
    if node is None:
        return
    if not is_aligned(node, arguments):
        return
    positions = AotFunction(node, outputs).positions
    requires_grad = [i for i, needs in enumerate(node.needs_input_grad) if needs]
    tensors = [i for i, value in enumerate(arguments) if hasattr(value, "requires_grad")]
    seeds: dict[int, Any] = {}
    names = names_of_inputs(gm)

    def before_backward(gradients: Sequence[Any]) -> None:
        for output, position in positions.items():
            if gradients[position] is not None:
                seeds[output] = gradients[position].detach()

    def after_backward(of_inputs: Sequence[Any], of_outputs: Sequence[Any]) -> None:
        if len(seeds) == len(positions):
            return
        with unnoticed(arguments), not_captured(), torch.enable_grad():
            eager = before.run(runner(gm)).gradients(requires_grad, seeds)
        given = dict(zip(tensors, of_inputs, strict=True))
        for i, gradient in zip(requires_grad, eager, strict=True):
            if gradient is None and given[i] is not None:
                what = "zeros, where eager gives None: no loss used what it leads to"
                report(Comparison(f"gradient of {names[i]}", False, None, None, "eager", what))
                return

    def harmless(function: Callable[..., None]) -> Callable[..., None]:
        def hook(*gradients: Any) -> None:
            try:
                function(*gradients)
            except Exception:  # then it is not known whether they differ, as without us
                seeds.clear()

        return hook

    node.register_prehook(harmless(before_backward))
    node.register_hook(harmless(after_backward))
