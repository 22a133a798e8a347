"""Values that compiled code does not read any more: a compiler has put what they were into it."""

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .observed_state import Leaves
from .state_difference import compare_leaves

_MOST_VALUES = 100  # that are looked at, each by a call


def folded(call: Callable[[], Leaves], tensors: Sequence[Any]) -> list[Any]:
    """The tensors whose values can be others without the call giving something else."""
    usual = copy.deepcopy(call())  # the next call may write into the same memory

    def is_folded(tensor: Any) -> bool:
        with other_values([tensor]):
            return not compare_leaves(call(), usual).differences

    return [tensor for tensor in tensors[:_MOST_VALUES] if is_folded(tensor)]


@contextmanager
def other_values(tensors: Sequence[Any]) -> Iterator[None]:
    """While tensors of numbers with a point have values that they do not have."""
    import torch

    before = [tensor.detach().clone() for tensor in tensors]
    with torch.no_grad():
        for tensor in tensors:
            tensor.add_(torch.linspace(0.5, 1.0, tensor.numel()).reshape(tensor.shape))
        yield
        for tensor, values in zip(tensors, before, strict=True):
            tensor.copy_(values)
