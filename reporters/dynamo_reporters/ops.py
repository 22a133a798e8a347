"""How many operations of each kind a graph holds."""

from collections import Counter

from rich.console import Group, RenderableType
from rich.text import Text

from dynamo_core.model import Graph

from .detail import Detail
from .text import compile_label, number, plain_table


def count_ops(graph: Graph) -> Counter[str]:
    """Calls in the graph, by qualified name."""
    return Counter(node.target for node in graph.nodes or () if node.op.startswith("call_"))


def render_ops(graph: Graph, detail: Detail) -> RenderableType:
    """The op counts of one graph, most frequent first; ten of them unless MORE is asked for."""
    counts = count_ops(graph)
    title = Text(f"ops of graph {graph.number} {compile_label(graph.compile_id)} ", style="bold")
    title.append(f"{number(graph.ops, 'op')} of {number(len(counts), 'kind')}")
    if detail is Detail.LESS or not counts:
        return title
    shown = counts.most_common(None if detail is Detail.MORE else 10)
    rows = [[str(count), name] for name, count in shown]
    rest = len(counts) - len(shown)
    more = Text(f"… and {number(rest, 'more kind')}; +ops shows all") if rest else Text()
    return Group(title, Text(plain_table(["count", "op"], rows)), more)
