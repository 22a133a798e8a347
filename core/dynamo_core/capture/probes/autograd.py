"""Probes of training: the forward and backward graphs that AOTAutograd makes, and calls of backward graphs.

Graphs. AOTAutograd's partitioner makes them of a joint graph. Source:
torch/_functorch/_aot_autograd/graph_compile.py (_log_joint_graph, _log_fw_bw_graphs), in 2.8
jit_compile_runtime_wrappers.py (aot_dispatch_autograd). Each of the three graphs is passed to
`lazy_format_graph_code` when it is final, before its text goes to the structured trace. That function is
wrapped in the module that calls it; nothing is formatted. Run with 2.8, 2.13 and 2.15. A graph from
AOTAutograd's cache was partitioned in an earlier run: the trace has only its text, which the reader parses
(recording/training.py).

Backward calls. autograd makes them, and the forward's callable does not see them.
Source: torch/_inductor/output_code.py (CompiledFxGraph.post_compile), which gives a graph, fresh or from the
cache, what it will call: `current_callable`, the CUDA graph included. Read in 2.8 to 2.15; run with 2.13.
Backends other than Inductor do not show their backward graphs.
"""

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...backends.results import graph_in_progress
from ...shared.aot_pair import AotGraph, AotNode, graphs_paired
from ...shared.records import BackwardCompiled
from ..frames.source import compile_id_text, current_compile_id, user_line
from .device_time import timed_on_device
from .graphs import described_value, target_name

if TYPE_CHECKING:
    from torch._inductor.output_code import CompiledFxGraph
    from torch.fx import GraphModule, Node

    from ..engine_parts import EngineParts


def install(module: ModuleType, parts: "EngineParts") -> None:
    """Note the graphs in the module in which AOTAutograd partitions joint graphs."""
    joints: dict[Any, dict[str, int]] = {}  # by AOTAutograd's number of the graph
    forwards: dict[Any, Any] = {}

    def note(title: str, gm: "GraphModule", number: Any) -> None:
        if title == "Joint graph":
            joints[number] = _graph(gm).operators()
        elif title == "Forward graph":
            forwards[number] = gm
        elif title == "Backward graph":
            joint, forward = joints.pop(number, None), forwards.pop(number)
            number_of_graph, describe = graph_in_progress.number, _describer(forward)
            pair = graphs_paired(number_of_graph, joint, _graph(forward), _graph(gm), describe)
            parts.stream.record(pair, current_compile_id())

    def lazy_format_graph_code(
        proceed: Callable[..., Any], title: str, gm: "GraphModule", number: Any = None, **named: Any
    ) -> Any:
        note(title, gm, number)
        return proceed(title, gm, number, **named)

    name = "forward and backward graphs"
    parts.probes.hook(module, "lazy_format_graph_code", name, lazy_format_graph_code)


def _graph(gm: "GraphModule") -> AotGraph:
    placeholders: list[str] = []
    nodes: list[AotNode] = []
    outputs: tuple[str | None, ...] = ()
    for node in gm.graph.nodes:
        if node.op == "placeholder":
            placeholders.append(node.name)
        elif node.op == "output":
            returned = node.args[0] if isinstance(node.args[0], list | tuple) else node.args
            outputs = tuple(getattr(value, "name", None) for value in returned)
        else:
            inputs = tuple(value.name for value in node.all_input_nodes)
            nodes.append(AotNode(node.name, _operator(node), inputs))
    return AotGraph(tuple(placeholders), tuple(nodes), outputs)


def _operator(node: "Node") -> str | None:
    """The operator of a node, `aten.mm` for all of its overloads; None where the node calls nothing."""
    if not node.op.startswith("call_"):
        return None
    name = target_name(node)
    if not name.startswith("torch.ops."):
        return name
    return ".".join(name.removeprefix("torch.ops.").split(".")[:2])


def _describer(forward: Any) -> Any:
    nodes = {node.name: node for node in forward.graph.nodes}

    def describe(name: str) -> dict[str, Any]:
        node = nodes[name]
        value = node.meta.get("val")
        described = {**described_value(value), "bytes": _bytes(value)}
        place = user_line(node.meta.get("stack_trace"))
        if place is not None:
            described["file"], described["line"] = place
        return described

    return describe


def _bytes(value: Any) -> int | None:
    """The bytes of a tensor's elements; symbolic sizes count with the values that they were compiled with."""
    import torch

    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return None
    bytes_: int = value.element_size()
    for size in value.shape:
        # Not arithmetic on the sizes themselves, which could add guards.
        hint = size.node.hint if isinstance(size, torch.SymInt) else size
        if hint is None:
            return None
        bytes_ *= int(hint)
    return bytes_


def install_on_backward(output_code: ModuleType, parts: "EngineParts") -> None:
    """Wrap `CompiledFxGraph.post_compile`, so that the calls of backward graphs are counted."""
    probes, window, verifier = parts.probes, parts.window, parts.verifier
    counters = probes.stream.counters

    def count_calls(graph: "CompiledFxGraph") -> None:
        if not graph.fx_kwargs.get("is_backward") or graph.current_callable is None or probes.stream.is_muted:
            return
        page = counters.new_page()
        if page is None:
            return
        compile_id = current_compile_id()
        compiled = graph.current_callable
        if window is not None:
            compiled = window.watch(compiled, None, compile_id_text(compile_id), is_backward=True)
        compiled = timed_on_device(compiled, lambda: counters.words_of(page))
        counted = counters.counted(compiled, page)
        graph.current_callable = counted if verifier is None else verifier.not_counted(compiled, counted)
        probes.stream.record(BackwardCompiled(calls_index=page), compile_id)

    def post_compile(proceed: Callable[..., Any], graph: "CompiledFxGraph", *rest: Any, **named: Any) -> Any:
        result = proceed(graph, *rest, **named)
        count_calls(graph)
        return result

    probes.hook(output_code.CompiledFxGraph, "post_compile", "backward calls", post_compile)
