"""A pass for Inductor: what a graph writes to its inputs in the end is read before any of them is changed.

AOTAutograd puts a `copy_` for each changed input at the end of a graph. Inductor drops a clone that is only
written to an input; the `copy_` then reads another input, which one before it may have changed:
`a[:], b[:] = b.clone(), a.clone()` leaves both the same. Source: torch/_inductor/fx_passes/post_grad.py
(remove_noop_ops; post_grad_passes, which calls this pass behind it), torch/_inductor/custom_graph_pass.py,
read and run in 2.13; pytorch/pytorch pull request 198132.
"""

from collections.abc import Callable
from typing import Any


def read_before_writing() -> Callable[[], None]:
    """Add the pass to Inductor's, in place of none; returns its undoing."""
    import torch._inductor.config as inductor_config

    if inductor_config.post_grad_custom_post_pass is not None:
        return lambda: None  # the program has one of its own
    inductor_config.post_grad_custom_post_pass = _inductor_pass()

    def restore() -> None:
        inductor_config.post_grad_custom_post_pass = None

    return restore


def clone_what_is_overwritten(graph: Any) -> None:
    """Ahead of all writes, clone what one of them reads of an input that one before it changes."""
    import torch

    writes = list(graph.find_nodes(op="call_function", target=torch.ops.aten.copy_.default))
    changed: set[int | None] = set()
    for write in writes:
        target, value, *others = write.args
        if _memory(value) in changed - {None}:
            with graph.inserting_before(writes[0]):
                clone = graph.call_function(torch.ops.aten.clone.default, (value,))
            clone.meta["val"] = value.meta["val"].clone()
            write.args = (target, clone, *others)
        changed.add(_memory(target))


def _memory(node: Any) -> int | None:
    import torch

    value = node.meta.get("val") if isinstance(node, torch.fx.Node) else None
    if not isinstance(value, torch.Tensor) or not torch._C._has_storage(value):
        return None
    identity: int = value.untyped_storage()._cdata
    return identity


def _inductor_pass() -> Any:
    from torch._inductor.custom_graph_pass import CustomGraphPass

    class ReadBeforeWriting(CustomGraphPass):  # type: ignore[misc]
        def __call__(self, graph: Any) -> None:
            clone_what_is_overwritten(graph)

        def uuid(self) -> str:
            """What Inductor's caches know it by."""
            return "dynamo: read before writing, 1"

    return ReadBeforeWriting()
