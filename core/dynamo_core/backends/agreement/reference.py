"""A graph of Dynamo's in float64: what it computes, but for rounding.

torch has helpers for its own accuracy checks (torch/_dynamo/debug_utils.py, cast_to_fp64; 2.8 to 2.15); they
leave dtypes that stand in positional arguments, methods like `half`, autocast, and views of one storage.
"""

import copy
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from .random_numbers import RandomState

# Clones of a graph's inputs: what a run changes in them, it does not change in the program's.


def clone_with_aliases(values: Sequence[Any]) -> list[Any]:
    """Clones of the tensors among `values`, other values as they are.

    Strides, offsets and shared storages are kept, so that views of one storage are views of one clone of it;
    so are `requires_grad` and whether a tensor is a leaf.
    """
    return _clone(values, {})


def clone_wide(values: Sequence[Any], wide: dict[Any, Any]) -> list[Any]:
    """Clones with dtypes replaced as `wide` says. They share storages as far as their dtypes are the same."""
    return _clone(values, wide)


def _clone(values: Sequence[Any], wide: dict[Any, Any]) -> list[Any]:
    import torch

    storages: dict[Any, Any] = {}

    def clone(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        dtype = wide.get(value.dtype, value.dtype)
        if _has_plain_storage(value):
            storage = value.untyped_storage()
            key = (storage.data_ptr(), value.device, value.dtype if wide else None)
            if key not in storages:
                storages[key] = (
                    storage.clone()
                    if dtype is value.dtype
                    else _cast(storage, value, dtype).untyped_storage()
                )
            cloned = torch.empty(0, dtype=dtype, device=value.device).set_(
                storages[key], value.storage_offset(), value.size(), value.stride()
            )
        else:
            cloned = value.detach().to(dtype, copy=True)
        if not value.requires_grad:
            return cloned
        if value.is_leaf or overlaps(cloned):
            return cloned.requires_grad_()
        with torch.enable_grad():
            return cloned.copy_(cloned.clone().requires_grad_())  # a result, which may be changed in place

    with torch.no_grad(), torch.inference_mode(mode=False):
        return [clone(value) for value in values]


def _cast(storage: Any, value: Any, dtype: Any) -> Any:
    import torch

    return torch.empty(0, dtype=value.dtype, device=value.device).set_(storage).to(dtype)


def shares_memory(result: Any, args: Sequence[Any]) -> bool:
    """Whether a result is an argument or a view of one, also where the operator's declaration denies it."""
    import torch

    is_alias: Any = getattr(torch._C, "_is_alias_of")  # noqa: B009  the stubs of torch do not have it
    strided = [each for each in args if isinstance(each, torch.Tensor) and each.layout is torch.strided]
    is_strided = isinstance(result, torch.Tensor) and result.layout is torch.strided
    return is_strided and any(is_alias(each, result) for each in strided)


def overlaps(tensor: Any) -> bool:
    """Whether several elements share their memory, as in an expanded tensor."""
    return any(stride == 0 and size > 1 for size, stride in zip(tensor.shape, tensor.stride(), strict=True))


def _has_plain_storage(tensor: Any) -> bool:
    import torch

    return (
        type(tensor) in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)
        and tensor.layout is torch.strided
        and not (tensor.is_quantized or tensor.is_conj() or tensor.is_neg())
        and tensor.untyped_storage().data_ptr() != 0
    )


# A graph of Dynamo's in float64:


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

    class Interpreter(torch.fx.Interpreter):
        def run(self, *args: Any, **_: Any) -> Any:
            """Without torch's progress bar, for which tqdm starts a thread that the program would see."""
            self.env, self.args_iter, result = {}, iter(args), None
            for node in self.graph.nodes:
                result = self.env[node] = self.run_node(node)
                for passed in self.user_to_last_uses.get(node, ()):
                    del self.env[passed]
            return result

        def run_node(self, n: Any) -> Any:
            result = super().run_node(n)
            if isinstance(result, torch.Tensor) and result.dtype in wide:
                return result.to(wide[result.dtype])
            return result

    return Interpreter(module)


# A run of ours in the middle of the program's: what the program has switched on does not see it.
#
# Source: torch/autograd/graph.py (saved_tensors_hooks), torch/_dynamo/compiled_autograd.py (_disable),
# torch/csrc/autograd/python_variable.cpp (_stash_obj_in_tls, which backward threads inherit:
# aten/src/ATen/ThreadLocalState.cpp). Read in 2.8 to 2.15.


_KEY = "dynamo_shielded"


@contextmanager
def shielded() -> Iterator[None]:
    """Leave no cast in autocast's cache, call no hook for saved tensors, keep compiled autograd out.

    The grad mode is the program's, and is so again after the run. What runs in here, the backward included,
    finds `is_shielded()`.
    """
    import torch

    was_caching, was_shielded = torch.is_autocast_cache_enabled(), is_shielded()
    torch.set_autocast_cache_enabled(False)
    torch._C._stash_obj_in_tls(_KEY, True)
    try:
        with ExitStack() as stack:
            stack.enter_context(torch.set_grad_enabled(torch.is_grad_enabled()))
            if torch._C._autograd._top_saved_tensors_default_hooks(True) is not None:
                # The innermost pair is the only one that is called.
                stack.enter_context(torch.autograd.graph.saved_tensors_hooks(_detached, _as_it_is))
            compiled_autograd = sys.modules.get("torch._dynamo.compiled_autograd")
            if compiled_autograd is not None and compiled_autograd.compiled_autograd_enabled:
                stack.enter_context(compiled_autograd._disable())
            yield
    finally:
        torch._C._stash_obj_in_tls(_KEY, was_shielded)
        torch.set_autocast_cache_enabled(was_caching)


def is_shielded() -> bool:
    """Whether this thread, or the one whose backward it runs, is in a run of ours."""
    import torch

    return torch._C._is_key_in_tls(_KEY) and bool(torch._C._get_obj_in_tls(_KEY))


def _detached(tensor: Any) -> Any:
    return tensor.detach()


def _as_it_is(tensor: Any) -> Any:
    return tensor
