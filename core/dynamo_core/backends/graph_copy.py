"""A copy of a graph module that a backend may rewrite before it declines.

Source: torch/fx/graph_module.py (GraphModule), torch/fx/graph.py (Graph.node_copy). What Dynamo notes outside
of `meta` (torch/_dynamo/output_graph.py, OutputGraph.call_user_compiler) is wanted by AOTAutograd for guards
on inputs that are one tensor (torch/_functorch/_aot_autograd/frontend_utils.py). 2.8 to 2.15.
"""

from copy import deepcopy
from typing import Any


def copy_of_graph(gm: Any) -> Any:
    """The same parameters, buffers and modules under a copy of the graph, and of the graphs below it.

    Everything else that Dynamo noted on the module and on its nodes is there as well.
    """
    return _copy(gm, {})


def _copy(gm: Any, copies: dict[int, Any]) -> Any:
    import torch
    from torch.fx._lazy_graph_module import _make_graph_module

    if id(gm) in copies:  # a body that is called in several places
        return copies[id(gm)]
    copied = copies[id(gm)] = _make_graph_module(gm, deepcopy(gm.graph), type(gm).__name__)
    copied.meta = dict(gm.meta)
    _add_missing(gm, copied)
    for node, copied_node in zip(gm.graph.nodes, copied.graph.nodes, strict=True):
        _add_missing(node, copied_node)
    for name, child in list(copied.named_children()):
        if isinstance(child, torch.fx.GraphModule):  # a body of cond, checkpoint, …
            setattr(copied, name, _copy(child, copies))
    return copied


def _add_missing(original: Any, copied: Any) -> None:
    for name, value in vars(original).items():
        if name not in vars(copied):
            setattr(copied, name, value)
