"""An FX graph in Graphviz's language, to be drawn by `dot`."""

from dynamo_core.analysis.graphs.node_text import kind_of, line_text, user_lines, value_text
from dynamo_core.model import Graph, Node

# Shapes and the fill colours of Graphviz's default scheme that print well; inputs are told apart by both.
_LOOKS = {
    "input": 'shape=invhouse, fillcolor="lightblue"',
    "symbol": 'shape=invhouse, fillcolor="lightcyan"',
    "parameter": 'shape=cylinder, fillcolor="lightyellow"',
    "buffer": 'shape=cylinder, fillcolor="lightgrey"',
    "get_attr": 'shape=cylinder, fillcolor="lightgrey"',
    "output": 'shape=house, fillcolor="lightpink"',
}


def dot_text(graph: Graph, title: str) -> str:
    """The graph as a `digraph` of its recorded nodes."""
    nodes = graph.nodes or ()
    lines = user_lines(graph.code)
    parts = [
        f"digraph graph_{graph.number} {{",
        f"  label={_quoted(title)}; labelloc=t;",
        '  node [shape=box, style="filled", fillcolor="white", fontname="monospace", fontsize=10];',
    ]
    for node in nodes:
        look = _LOOKS.get(kind_of(node) if node.op == "placeholder" else node.op)
        attributes = [f"label={_quoted(_label(node))}", f"tooltip={_quoted(line_text(node.place, lines))}"]
        parts.append(f"  {_quoted(node.name)} [{', '.join([*attributes, *([look] if look else [])])}];")
    parts += [f"  {_quoted(read)} -> {_quoted(node.name)};" for node in nodes for read in node.inputs]
    return "\n".join([*parts, "}"])


def _label(node: Node) -> str:
    target = (node.source or node.target) if node.op == "placeholder" else node.target
    said = (node.name, target if target != node.name else "", value_text(node))
    return "\n".join(filter(None, said))


def _quoted(text: str) -> str:
    """A double-quoted string; a backslash would begin one of Graphviz's escapes (`\\N`, `\\l`)."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
