"""Clones of a graph's inputs: what a run changes in them, it does not change in the program's."""

from collections.abc import Sequence
from typing import Any


def clone_with_aliases(values: Sequence[Any]) -> list[Any]:
    """Clones of the tensors among `values`, other values as they are.

    Strides, offsets and shared storages are kept, so that views of one storage are views of one clone of it;
    so are `requires_grad` and whether a tensor is a leaf.
    """
    return _clone(values, {})


def clone_wide(values: Sequence[Any], wide: dict[Any, Any]) -> list[Any]:
    """The same with dtypes replaced as `wide` says. Storages are shared as far as their dtype is."""
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
