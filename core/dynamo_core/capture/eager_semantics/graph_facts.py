"""What is known of a captured graph before it runs: what it changes, which outputs depend on which.

The facts are read from Dynamo's FX graph and the fake tensors on its nodes (torch/_dynamo/output_graph.py,
torch/_dynamo/variables/builder.py): a fake input begins at version 0, and each write in place adds one.
Checked with 2.8, 2.13 and 2.15.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..frames.source import user_line

if TYPE_CHECKING:
    from torch.fx import GraphModule, Node

# These write their running statistics without a new tensor version (torch/nn/functional.py, 2.8 to 2.15).
_NORMALISING = ("batch_norm", "instance_norm")
_STATISTICS = ("running_mean", "running_var")
# These return their input itself where there is nothing to convert.
_CONVERSIONS = (
    "contiguous",
    "to",
    "type_as",
    "float",
    "double",
    "half",
    "bfloat16",
    "cpu",
    "cuda",
)


class GraphFacts(NamedTuple):
    """Facts of one graph, whose inputs and outputs are given by position.

    `changed` are the inputs that are written in place; `in_place_hazards` are the ones among them whose
    earlier values a backward could need. Running statistics are none: only normalisation reads them.
    `inner` are the outputs that another output is computed from, both with gradients.
    `ancestors[i]` are the outputs that output i is computed from, including i itself.
    `leads_to[i]` are the outputs that input i receives a gradient from.
    `node_names` are the names of eager's autograd nodes, by output.
    `passed_through` are outputs that may be an input itself, with that input and whether it is certain.
    A graph that `communicates` with other processes cannot run again: the others would not take part.
    `unsupported` says why torch.compile cannot keep eager's semantics here, whatever the program does next.
    """

    devices: tuple[str, ...]
    changed: tuple[int, ...]
    in_place_hazards: tuple[int, ...]
    outputs: tuple[str, ...]
    output_places: tuple[tuple[str, int] | None, ...]
    inner: frozenset[int]
    ancestors: tuple[frozenset[int], ...]
    node_names: dict[int, str]
    inputs: tuple[str, ...]
    leads_to: tuple[frozenset[int], ...]
    communicates: bool
    passed_through: tuple[tuple[int, int, bool], ...]
    unsupported: str | None


def facts_of(gm: "GraphModule") -> GraphFacts:
    """The facts of a graph module, as Dynamo passes it to a backend."""
    import torch

    nodes = list(gm.graph.nodes)
    placeholders = [node for node in nodes if node.op == "placeholder"]
    values = [node.meta.get("example_value") for node in placeholders]
    statistics = _running_statistics(nodes)
    changed = [
        i
        for i, (node, value) in enumerate(zip(placeholders, values, strict=True))
        if isinstance(value, torch.Tensor) and (value._version > 0 or node in statistics)
    ]
    outputs = _outputs(nodes)
    ancestors = _ancestors(nodes, outputs)
    requires_grad = {i for i, node in enumerate(outputs) if _requires_grad(node)}
    return GraphFacts(
        devices=tuple(sorted({value.device.type for value in values if isinstance(value, torch.Tensor)})),
        changed=tuple(changed),
        in_place_hazards=tuple(i for i in changed if not all(map(_is_normalising, placeholders[i].users))),
        outputs=tuple(str(node) for node in outputs),
        output_places=tuple(_user_line(node) for node in outputs),
        inner=frozenset(i for j in requires_grad for i in ancestors[j] if i != j and i in requires_grad),
        ancestors=tuple(ancestors),
        node_names={
            i: type(node.meta["example_value"].grad_fn).__name__
            for i, node in enumerate(outputs)
            if _requires_grad(node) and getattr(node.meta["example_value"], "grad_fn", None) is not None
        },
        inputs=tuple(_source_name(node) for node in placeholders),
        leads_to=_leads_to(nodes, placeholders, outputs),
        communicates=communication_in(gm) is not None,
        passed_through=tuple(_passed_through(placeholders, outputs)),
        unsupported=_unsupported(gm, values, changed),
    )


def _passed_through(placeholders: list[Any], outputs: list[Any]) -> Iterator[tuple[int, int, bool]]:
    """Each output that may be an input itself, with that input, and whether that is certain."""
    for i, output in enumerate(outputs):
        node, is_certain = output, True
        while getattr(node, "op", None) in ("call_function", "call_method") and node.args:
            name = getattr(node.target, "__name__", node.target)
            if name in _CONVERSIONS:
                is_certain = False
            elif not (name == "dropout" and _drops_nothing(node)):
                break
            node = node.args[0]
        if node is not output and node in placeholders:
            yield i, placeholders.index(node), is_certain


def _drops_nothing(node: "Node") -> bool:
    """Whether `torch.nn.functional.dropout(input, p, training)` gives back its input."""
    given = dict(zip(("p", "training"), node.args[1:3], strict=False)) | node.kwargs
    return given.get("training", True) is False or bool(given.get("p", 0.5) == 0)


def communication_in(gm: "GraphModule") -> str | None:
    """The name of a node that communicates with other processes, in the graph or a subgraph of it."""
    import torch

    for module in gm.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            if node.op == "call_function" and "c10d" in str(node.target):
                return str(node.name)
    return None


def _unsupported(gm: "GraphModule", values: list[Any], changed: list[int]) -> str | None:
    import torch
    from torch.utils._python_dispatch import is_traceable_wrapper_subclass

    if torch.are_deterministic_algorithms_enabled():
        return "deterministic"
    if any(is_traceable_wrapper_subclass(value) for value in values):
        return "subclass"
    if not torch.is_grad_enabled():
        return None
    if any(values[i].requires_grad for i in changed):
        return "in_place"
    if any(parameter.requires_grad for parameter in gm.parameters()):
        return "own_parameters"
    return None


def _is_normalising(node: "Node") -> bool:
    return node.op == "call_function" and getattr(node.target, "__name__", None) in _NORMALISING


def _running_statistics(nodes: list[Any]) -> set[Any]:
    found: set[Any] = set()
    for node in nodes:
        if _is_normalising(node):
            # torch.nn.functional.batch_norm(input, mean, var, …), torch.batch_norm(input, weight, bias, …)
            first = 1 if getattr(node.target, "__module__", None) == "torch.nn.functional" else 3
            found |= {*node.args[first : first + 2], *(node.kwargs.get(name) for name in _STATISTICS)}
    return found


def _outputs(nodes: list[Any]) -> list[Any]:
    returned = next(node for node in reversed(nodes) if node.op == "output").args[0]
    return list(returned) if isinstance(returned, (tuple, list)) else [returned]


def _ancestors(nodes: list[Any], outputs: list[Any]) -> list[frozenset[int]]:
    """For each output, the outputs that it is computed from through tensors that require gradients."""
    positions: dict[Any, set[int]] = {}
    for i, node in enumerate(outputs):
        if hasattr(node, "all_input_nodes"):
            positions.setdefault(node, set()).add(i)
    reached: dict[Any, frozenset[int]] = {}
    for node in nodes:
        found = set(positions.get(node, ()))
        for input_ in node.all_input_nodes:
            if _requires_grad(input_):
                found |= reached.get(input_, frozenset())
        reached[node] = frozenset(found)
    return [
        reached.get(node, frozenset()) if hasattr(node, "all_input_nodes") else frozenset()
        for node in outputs
    ]


def _leads_to(nodes: list[Any], placeholders: list[Any], outputs: list[Any]) -> tuple[frozenset[int], ...]:
    """The outputs that each input leads to, as far as the graph shows: some operations have no derivative."""
    masks: dict[Any, int] = {node: 1 << i for i, node in enumerate(placeholders) if _requires_grad(node)}
    for node in nodes:
        mask = masks.get(node, 0)
        for input_ in node.all_input_nodes:
            if _requires_grad(input_):
                mask |= masks.get(input_, 0)
        masks[node] = mask
    output_masks = [masks.get(node, 0) if _requires_grad(node) else 0 for node in outputs]
    return tuple(
        frozenset(j for j, mask in enumerate(output_masks) if mask >> i & 1) for i in range(len(placeholders))
    )


def _requires_grad(node: "Node") -> bool:
    meta = getattr(node, "meta", None)
    return meta is not None and _any_requires_grad(meta.get("example_value"))


def _any_requires_grad(value: Any) -> bool:
    import torch

    if isinstance(value, (tuple, list)):
        return any(_any_requires_grad(item) for item in value)
    return isinstance(value, torch.Tensor) and value.requires_grad


def _user_line(node: "Node") -> tuple[str, int] | None:
    meta = getattr(node, "meta", None)
    return None if meta is None else user_line(meta.get("stack_trace"))


def _source_name(node: "Node") -> str:
    from ..torch_versions import source_name

    source = getattr(node.meta.get("grapharg"), "source", None)
    return str(node) if source is None else source_name(source)
