"""Inputs that a graph changes in place, and whose earlier values its compiled backward would read: too late.

Eager's backward reads what the operations saved. AOTAutograd's may compute such a value again, from an input
of the graph, although the graph has written into that input since: the gradients are wrong, and silently.
Source: torch/_functorch/partitioners.py (min_cut_rematerialization_partition, which knows nothing of the
writes at a graph's end), torch/_functorch/_aot_autograd/runtime_wrappers.py (CompiledFunction.forward), read
and run in 2.13; pytorch/pytorch pull request 197039.
"""

from collections.abc import Sequence
from typing import Any

from .aot_function import node_of


def backward_reads_what_was_overwritten(
    outputs: Sequence[Any], arguments: Sequence[Any], overwritten: Sequence[int]
) -> bool:
    """After a call: whether it saved for its backward one of the inputs that it changed, or a view of one."""
    node = node_of(outputs) if overwritten else None
    if node is None:
        return False
    changed = {_memory(arguments[i]) for i in overwritten if arguments[i].numel()}
    return any(_memory(value) in changed for value in _saved(node) if value is not None)


def _saved(node: Any) -> list[Any]:
    # Some torches keep those aside whose versions autograd is not to check.
    return [*node.saved_tensors, *getattr(node, "_tensors_no_vc_check", ())]


def _memory(tensor: Any) -> int:
    address: int = tensor.untyped_storage().data_ptr()
    return address
