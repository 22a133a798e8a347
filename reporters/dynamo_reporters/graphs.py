"""FX graphs as tables."""

from rich.console import Group, RenderableType
from rich.text import Text

from dynamo_core.model import Graph, Node

from .detail import Detail
from .text import compile_label, frame_name, number, place, plain_table, seconds


def render_graph(graph: Graph, detail: Detail) -> RenderableType:
    """One graph: a title, and the classic table of its nodes."""
    title = Text(f"graph {graph.number} {compile_label(graph.compile_id)} ", style="bold")
    title.append(f"{number(graph.ops, 'op')}, backend {graph.backend or 'not recorded'}, from ")
    title.append(f"{frame_name(graph.frame_name)} ({place(graph.frame_place)})")
    if graph.backend_seconds is not None:
        title.append(f", backend took {seconds(graph.backend_seconds)}")
    if detail is Detail.LESS or graph.nodes is None:
        return title
    headers = ["opcode", "name", "target", "args", "kwargs"]
    rows = [[node.op, node.name, node.target, node.args, node.kwargs] for node in graph.nodes]
    if detail is Detail.MORE:
        headers += ["shape", "stride", "dtype", "device", "line"]
        rows = [
            row + _tensor_cells(node) + [place(node.place) if node.place else ""]
            for row, node in zip(rows, graph.nodes, strict=True)
        ]
    return Group(title, Text(plain_table(headers, rows)), Text())


def _tensor_cells(node: Node) -> list[str]:
    if node.symbol is not None:
        return [node.symbol, "", "", ""]
    shapes = "; ".join(str(list(tensor.shape)) for tensor in node.tensors)
    strides = "; ".join("" if tensor.stride is None else str(list(tensor.stride)) for tensor in node.tensors)
    kinds = "; ".join(dict.fromkeys(tensor.dtype for tensor in node.tensors))
    devices = "; ".join(dict.fromkeys(tensor.device for tensor in node.tensors))
    return [shapes, strides, kinds, devices]
