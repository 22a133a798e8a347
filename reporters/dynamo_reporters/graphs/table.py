"""An FX graph as tables: its inputs, then its nodes under the user's lines that they come from."""

from collections.abc import Callable, Sequence

from dynamo_core.analysis.graphs.fold import Part, Repeat, folded, layer_token
from dynamo_core.analysis.graphs.node_text import (
    TIMES,
    arguments,
    kind_of,
    line_text,
    paths_of_state,
    user_lines,
    value_text,
)
from dynamo_core.analysis.words import number
from dynamo_core.model import Graph, Node

from ..page.blocks import Block, Column, Table

_SMALL = 40  # nodes that are shown one by one: such a graph is taken in at a glance or two
_IN_REPEAT = "│ "

_ABOVE = Column("line", is_above=True)
_INPUTS = (
    Column("placeholder"),
    Column("name = source"),
    Column("value"),
    _ABOVE,
)
_NODES = (
    Column("opcode"),
    Column("name"),
    Column("target"),
    Column("args, kwargs"),
    Column("value"),
    _ABOVE,
)


def node_tables(graph: Graph, show_all: bool) -> tuple[list[Block], bool]:
    """The tables of a graph whose nodes were recorded, and whether they say less than `show_all` would.

    Unless all is to be shown, repeated regions of a larger graph are shown once, and parameters and buffers
    go by their path in the module.
    """
    nodes = graph.nodes or ()
    inputs = [node for node in nodes if node.op == "placeholder"]
    rest = [node for node in nodes if node.op != "placeholder"]
    state = paths_of_state(inputs)
    paths = {} if show_all else state
    lines = user_lines(graph.code)
    folds = not show_all and len(nodes) > _SMALL

    def input_row(node: Node) -> list[str]:
        needs_grad = " grad" if any(tensor.requires_grad for tensor in node.tensors) else ""
        source = state.get(node.name) or node.source
        said = f" = {source}" if source and node.name not in paths else ""
        return [kind_of(node), name_of(node) + said, value_text(node) + needs_grad]

    def node_row(node: Node) -> list[str]:
        return [node.op, node.name, node.target, arguments(node, paths), value_text(node)]

    def name_of(node: Node) -> str:
        return paths.get(node.name, node.name)

    def line_of(node: Node) -> str:
        return line_text(node.place, lines)

    input_parts = folded([_input_token(node) for node in inputs]) if folds else tuple(range(len(inputs)))
    node_parts = folded([layer_token(node) for node in rest]) if folds else tuple(range(len(rest)))
    blocks: list[Block] = []
    if inputs:
        rows = _Rows(inputs, input_row, lambda node: "", name_of, "input").of(input_parts)
        blocks.append(_without_empty_lines(Table(_INPUTS, rows)))
    if rest:
        blocks.append(Table(_NODES, _Rows(rest, node_row, line_of, name_of, "node").of(node_parts)))
    return blocks, bool(paths) or len(input_parts) + len(node_parts) < len(nodes)


def _input_token(node: Node) -> tuple[object, ...]:
    source = "".join("#" if letter.isdigit() else letter for letter in node.source or node.name)
    return (kind_of(node), source)


class _Rows:
    """Rows for nodes and repeated regions; the last cell of each is what stands above it."""

    def __init__(
        self,
        nodes: Sequence[Node],
        row: Callable[[Node], list[str]],
        line_of: Callable[[Node], str],
        name_of: Callable[[Node], str],
        what: str,
    ) -> None:
        self._nodes = nodes
        self._row = row
        self._line_of = line_of
        self._name_of = name_of
        self._what = what
        self._last_line = ""

    def of(self, parts: Sequence[Part], depth: int = 0) -> list[list[str]]:
        rows: list[list[str]] = []
        for part in parts:
            if isinstance(part, Repeat):
                self._last_line = ""
                inside = self.of(part.parts, depth + 1)
                above = [_IN_REPEAT * depth + self._title(part), *filter(None, [inside[0][-1]])]
                inside[0][-1] = "\n".join(above)
                rows += inside
                self._last_line = ""
                continue
            node = self._nodes[part]
            opcode, *cells = self._row(node)
            line = self._line_of(node)
            is_new = bool(line) and line != self._last_line
            self._last_line = line
            margin = _IN_REPEAT * depth
            rows.append([margin + opcode, *cells, margin + line if is_new else ""])
        return rows

    def _title(self, repeat: Repeat) -> str:
        """What repeats how often, and whether with the same shapes."""
        first, last = (self._name_of(self._nodes[at]) for at in (repeat.start, repeat.end - 1))
        sizes = {
            tuple(value_text(node) for node in self._nodes[at : at + repeat.period])
            for at in range(repeat.start, repeat.end, repeat.period)
        }
        differ = "" if len(sizes) == 1 else "; sizes differ"
        return (
            f"{TIMES} {repeat.times} ({first} … {last}): {number(repeat.period, self._what)} each time, "
            f"the first time shown{differ}"
        )


def _without_empty_lines(table: Table) -> Table:
    if any(row[-1] for row in table.rows):
        return table
    return Table(table.columns[:-1], [row[:-1] for row in table.rows])
