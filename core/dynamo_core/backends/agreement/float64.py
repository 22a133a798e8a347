"""A graph of Dynamo's in float64: what it computes, but for rounding.

torch has helpers for its own accuracy checks (torch/_dynamo/debug_utils.py, cast_to_fp64; 2.8 to 2.15); they
leave dtypes that stand in positional arguments, methods like `half`, autocast, and views of one storage.
"""

import copy
from collections.abc import Sequence
from typing import Any

from .clones import clone_wide
from .random_numbers import RandomState

_CASTING_METHODS = ("float", "half", "bfloat16")


def float64_reference(gm: Any, inputs: Sequence[Any]) -> list[Any] | None:
    """The outputs of the graph in float64; None where that is not possible.

    Not possible: nothing in it is floating point, random numbers are drawn (those of float64 are others),
    bits are reinterpreted, a dtype is none of the ordinary ones, or an operator refuses float64. Neither
    `inputs` nor random number generators are changed.
    """
    import torch

    made = in_float64(gm, inputs)
    if made is None:
        return None
    run, wide_inputs = made
    state = RandomState(wide_inputs)
    try:
        outputs = run(*wide_inputs)
    except Exception:
        return None
    finally:
        draws = state.has_changed()
        state.restore()
    return None if draws else list(outputs) if not isinstance(outputs, torch.Tensor) else [outputs]


def in_float64(gm: Any, inputs: Sequence[Any]) -> tuple[Any, list[Any]] | None:
    """A callable that runs a copy of the graph in float64, and clones of `inputs` for it; None as above."""
    import torch

    wide = {
        torch.float16: torch.float64,
        torch.bfloat16: torch.float64,
        torch.float32: torch.float64,
        torch.complex64: torch.complex128,
    }
    tensors = [value for value in inputs if isinstance(value, torch.Tensor)]
    tensors += [*gm.parameters(), *gm.buffers()]
    if not any(tensor.is_floating_point() or tensor.is_complex() for tensor in tensors):
        return None
    try:
        module = copy.deepcopy(gm).double()
        if not all(_widen(part, wide) for part in module.modules() if isinstance(part, torch.fx.GraphModule)):
            return None
        return _widening_interpreter(module, wide).run, clone_wide(inputs, wide)
    except Exception:  # a module that cannot be copied, a dtype that cannot be cast
        return None


def _widen(gm: Any, wide: dict[Any, Any]) -> bool:
    """Replace dtypes in the graph's arguments, casting methods and autocast; False where that will not do."""
    import torch

    def wider(argument: Any) -> Any:
        return wide.get(argument, argument) if isinstance(argument, torch.dtype) else argument

    for node in gm.graph.nodes:
        if node.target is torch.amp.autocast_mode._enter_autocast:
            node.args = (*node.args[:2], False, *node.args[3:])  # device type, dtype, enabled, cache
            continue
        dtypes = [argument for argument in _flat(node) if isinstance(argument, torch.dtype)]
        if any(dtype.is_floating_point and dtype.itemsize == 1 for dtype in dtypes):
            return False
        if dtypes and getattr(node.target, "__name__", node.target) == "view":
            return False
        node.args = torch.fx.node.map_aggregate(node.args, wider)
        node.kwargs = torch.fx.node.map_aggregate(node.kwargs, wider)
        if node.op == "call_method" and node.target in _CASTING_METHODS:
            node.target = "double"
    gm.recompile()
    return True


def _flat(node: Any) -> list[Any]:
    import torch

    found: list[Any] = []
    torch.fx.node.map_aggregate((node.args, node.kwargs), found.append)
    return found


def _widening_interpreter(module: Any, wide: dict[Any, Any]) -> Any:
    """Runs the graph; a tensor that was made in the default dtype is float64 from there on."""
    import torch

    class Interpreter(torch.fx.Interpreter):  # type: ignore[misc]
        def run_node(self, n: Any) -> Any:
            result = super().run_node(n)
            if isinstance(result, torch.Tensor) and result.dtype in wide:
                return result.to(wide[result.dtype])
            return result

    return Interpreter(module)
