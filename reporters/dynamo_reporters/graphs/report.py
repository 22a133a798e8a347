"""FX graphs: as tables, as readable code, drawn (dot, SVG), and as what later stages make of them."""

from collections.abc import Callable, Sequence

from dynamo_core.analysis.graphs.drawing import Drawing, drawing_of
from dynamo_core.analysis.graphs.nodes import (
    TIMES,
    Part,
    Repeat,
    arguments,
    counts_text,
    folded,
    kind_of,
    layer_token,
    line_text,
    paths_of_state,
    place_in,
    user_lines,
    value_text,
)
from dynamo_core.analysis.graphs.program import CONTENTS
from dynamo_core.analysis.summary import by_compile, graphs_recorded_in, probe_failed
from dynamo_core.analysis.training import pairs_of
from dynamo_core.analysis.verdict import not_compiled_because
from dynamo_core.analysis.words import compile_label, number, process_title, seconds, seconds_in_calls
from dynamo_core.case import Case
from dynamo_core.model import CompileId, Graph, Node, Process, Recording, Symbol
from dynamo_core.recording.training import AOT_PAIRS_FROM_TEXT
from dynamo_core.shared.failed_guard import without_stack_names
from dynamo_core.shared.quick_dataclass import dataclass

from ..page.blocks import Block, Code, Column, Heading, Paragraph, Table
from ..parts.backends import backend_text, declined_lines
from ..parts.sections import graphs_missing, no_graphs
from ..parts.training import pairs_facts, training_page
from ..report import Detail, Report
from .document import (
    graphs_of,
    missing_stages,
    recorded_stages,
    records_of,
    stage_names,
    stage_title,
    texts_by_compile,
)
from .drawing import TitledDrawing, dot_text, svg_text

# An FX graph as tables: its inputs, then its nodes under the user's lines that they come from.


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
        text = f" = {without_stack_names(source)}" if source and node.name not in paths else ""
        return [kind_of(node), name_of(node) + text, value_text(node) + needs_grad]

    def node_row(node: Node) -> list[str]:
        given = without_stack_names(arguments(node, paths))
        return [node.op, node.name, without_stack_names(node.target), given, value_text(node)]

    def name_of(node: Node) -> str:
        return without_stack_names(paths.get(node.name, node.name))

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


@dataclass
class _Rows:
    """Rows for nodes and repeated regions; the last cell of each is what stands above it."""

    nodes: Sequence[Node]
    row: Callable[[Node], list[str]]
    line_of: Callable[[Node], str]
    name_of: Callable[[Node], str]
    what: str
    last_line: str = ""

    def of(self, parts: Sequence[Part], depth: int = 0) -> list[list[str]]:
        rows: list[list[str]] = []
        for part in parts:
            if isinstance(part, Repeat):
                self.last_line = ""
                inside = self.of(part.parts, depth + 1)
                above = [_IN_REPEAT * depth + self._title(part), *filter(None, [inside[0][-1]])]
                inside[0][-1] = "\n".join(above)
                rows += inside
                self.last_line = ""
                continue
            node = self.nodes[part]
            opcode, *cells = self.row(node)
            line = self.line_of(node)
            is_new = bool(line) and line != self.last_line
            self.last_line = line
            margin = _IN_REPEAT * depth
            rows.append([margin + opcode, *cells, margin + line if is_new else ""])
        return rows

    def _title(self, repeat: Repeat) -> str:
        """What repeats how often, and whether with the same shapes."""
        first, last = (self.name_of(self.nodes[at]) for at in (repeat.start, repeat.end - 1))
        sizes = {
            tuple(value_text(node) for node in self.nodes[at : at + repeat.period])
            for at in range(repeat.start, repeat.end, repeat.period)
        }
        differ = "" if len(sizes) == 1 else "; sizes differ"
        return (
            f"{TIMES} {repeat.times} ({first} … {last}): {number(repeat.period, self.what)} each time, "
            f"the first time shown{differ}"
        )


def _without_empty_lines(table: Table) -> Table:
    if any(row[-1] for row in table.rows):
        return table
    return Table(table.columns[:-1], [row[:-1] for row in table.rows])


_NO_GRAPH = "No graph was handed to a backend."


def report(
    style: str = "tabular", stages: Sequence[str] = (), show_all: bool = False, training: bool = False
) -> Report[Case]:
    """The report of `dynamo graphs`.

    With `stages`, of the texts of those instead of the graphs; with `training`, of the forward and backward
    graphs and what is saved between them.
    """

    def page(case: Case) -> list[Block]:
        recording = case.recording
        if training:
            return list(training_page(recording, show_all))
        if stages:
            return _stages_page(recording, stages)
        if style == "tabular":
            return _tables_page(recording, show_all)
        if style == "svg":
            return [Code(drawn_graphs(recording), "xml")]
        return _texts_page(recording, style)

    contents = CONTENTS | {AOT_PAIRS_FROM_TEXT} | records_of(stage_names(stages))
    return Report("graphs", page, lambda case: graphs_of(case.recording, stages), contents)


def graph_title(graph: Graph) -> str:
    """A graph in a line: number, compile id, size, backend, and the frame it is from."""
    title = (
        f"graph {graph.number} {compile_label(graph.compile_id)} {number(graph.ops, 'op')}, "
        f"backend {backend_text(graph)}, from {place_in(graph)}"
    )
    if graph.backend_seconds is not None:
        title += f", backend took {seconds(graph.backend_seconds)}"
    return title


def graph_blocks(graph: Graph, detail: Detail) -> list[Block]:
    """One graph for DYNAMO_LOGS: a title, and its tables, with MORE of every node."""
    blocks: list[Block] = [Heading(graph_title(graph), 3)]
    if detail is Detail.LESS or graph.nodes is None:
        return blocks
    tables, _ = node_tables(graph, show_all=detail is Detail.MORE)
    return [*blocks, *tables]


def short_title(graph: Graph) -> str:
    """Which graph it is: `graph 1 [0/0] forward (train.py:7)`."""
    return f"graph {graph.number} {compile_label(graph.compile_id)} {place_in(graph)}"


def _tables_page(recording: Recording, show_all: bool) -> list[Block]:
    blocks: list[Block] = []
    says_less = False
    for process in recording.processes:
        blocks.append(Heading(_process_heading(process, recording), 1))
        blocks += graphs_missing([process])
        symbols = by_compile(process.symbols)
        for graph in process.graphs:
            opened = symbols.get(graph.compile_id, ())
            section, is_short = graph_section(graph, process, opened, show_all)
            blocks += section
            says_less |= is_short
    return blocks + _closing(recording, says_less)


def graph_section(
    graph: Graph, process: Process, symbols: Sequence[Symbol], show_all: bool
) -> tuple[list[Block], bool]:
    """All about one graph, its tables last, and whether they say less than `show_all` would.

    `symbols` are those of its compile.
    """
    blocks: list[Block] = [Heading(f"{short_title(graph)}: {counts_text(graph)}", 3)]
    blocks += [Paragraph(fact, "dim") for fact in _facts(graph, process, symbols)]
    if graph.nodes is not None:
        tables, is_short = node_tables(graph, show_all)
        return blocks + tables, is_short
    if graph.code is None:
        return [*blocks, Paragraph("Its nodes were not recorded.", "dim")], False
    note = Paragraph("Its nodes were not recorded; this is torch's own text of it.", "dim")
    return [*blocks, note, Code(graph.code)], False


def _process_heading(process: Process, recording: Recording) -> str:
    graphs = process.compiled_graphs
    if not process.graphs and not graphs_recorded_in(process):
        return f"graphs: not recorded{process_title(process, recording)}"
    ops = [graph.ops for graph in graphs if graph.ops is not None]
    heading = number(len(graphs), "graph") + process_title(process, recording)
    if graphs and len(ops) == len(graphs):
        heading += f", {number(sum(ops), 'op')}"
    specializations = sum(graph.is_specialization for graph in process.graphs)
    not_taken = len(process.graphs) - len(graphs) - specializations
    heading += f", {number(specializations, 'specialization')}" if specializations else ""
    return heading + (f", {not_taken:,} that the backend did not compile" if not_taken else "")


def _facts(graph: Graph, process: Process, symbols: Sequence[Symbol]) -> list[str]:
    """What is known of a graph besides its nodes, a line for each subject."""
    facts = []
    if graph.backend is not None:
        took = f" took {seconds(graph.backend_seconds)}" if graph.backend_seconds is not None else ""
        facts.append(f"backend {backend_text(graph)}{took}")
    if graph.is_specialization:
        facts.append("a specialization of a graph that counts already")
    elif not graph.is_compiled:
        facts.append(not_compiled_because(graph, process))
    if graph.calls is not None:
        on_host = seconds_in_calls(graph.host_seconds, graph.times)
        forward = " (forward)" if graph.backward is not None else ""
        spent = f", {on_host} on the host{forward}" if graph.calls else ""
        facts.append(f"called {number(graph.calls, 'time')}{spent}")
    if graph.is_running:
        facts.append("a call has not returned")
    lines = ["; ".join(facts)] if facts else []
    lines += declined_lines(graph)
    if symbols and graph.compile_id is not None:
        sizes = (
            f"{symbol.name} = {symbol.hint} ({without_stack_names(symbol.source)})" for symbol in symbols
        )
        lines.append(f"symbolic sizes, as met when compiling: {', '.join(dict.fromkeys(sizes))}")
    return lines + pairs_facts(pairs_of(graph, process))


def _closing(recording: Recording, says_less: bool) -> list[Block]:
    """What else there is to see, where there is."""
    if not any(process.graphs for process in recording.processes):
        is_known = probe_failed(recording.processes, "graphs") is not None
        return [] if is_known else [Paragraph(no_graphs(recording, _NO_GRAPH))]
    hints = []
    if says_less:
        hints.append(
            "Parameters and buffers go by their path in the module, and what repeats is shown once: "
            "--all shows every node, under its FX name."
        )
    stages = [stage for stage in recorded_stages(recording.processes) if stage != "dynamo"]
    if stages:
        hints.append(f"Later stages that are recorded, for --stage: {', '.join(stages)}.")
    return [Heading("More", 3), *(Paragraph(hint, "dim") for hint in hints)] if hints else []


def _texts_page(recording: Recording, style: str) -> list[Block]:
    """Each graph as a text with its title in a comment, so that the page is a program as it stands."""
    blocks: list[Block] = []
    for process in recording.processes:
        for graph in process.graphs:
            title = short_title(graph) + process_title(process, recording)
            text = graph_text(graph, style, title)
            blocks.append(Code(text, "python" if style == "code" else "dot"))
    mark = "#" if style == "code" else "//"
    return blocks or [Code(f"{mark} {no_graphs(recording, _NO_GRAPH)}", "text")]


def drawn_graphs(recording: Recording) -> str:
    """All graphs in one SVG document."""
    graphs = [
        titled_drawing(graph, short_title(graph) + process_title(process, recording))
        for process in recording.processes
        for graph in process.graphs
    ]
    return svg_text(graphs or [TitledDrawing(no_graphs(recording, _NO_GRAPH), Drawing((), ()))])


def titled_drawing(graph: Graph, title: str) -> TitledDrawing:
    """One graph as it is drawn."""
    return TitledDrawing(f"{title}: {counts_text(graph)}", None if graph.nodes is None else drawing_of(graph))


def graph_text(graph: Graph, style: str, title: str) -> str:
    """One graph as code or as dot, or a comment that says that it was not recorded."""
    if style == "dot":
        if graph.nodes is None:
            return f"// {title}: its nodes were not recorded, and without them there is nothing to draw"
        drawing = drawing_of(graph)
        if drawing.too_large is not None:
            return f"// {title}: not drawn, as {drawing.too_large}"
        return f"// {title}\n{dot_text(drawing, graph.number, title)}"
    if graph.code is None:
        return f"# {title}: its code was not recorded"
    return f"# {title}\n{graph.code.rstrip()}"


def _stages_page(recording: Recording, asked: Sequence[str]) -> list[Block]:
    blocks: list[Block] = []
    for process in recording.processes:
        titles: dict[CompileId | None, list[str]] = {}
        for graph in process.graphs:
            titles.setdefault(graph.compile_id, []).append(short_title(graph))
        for compile_id, texts in texts_by_compile(process, stage_names(asked)):
            owner = " and ".join(titles.get(compile_id, [f"compile {compile_label(compile_id)}"]))
            for text in texts:
                title = f"# {stage_title(text)}: {owner}{process_title(process, recording)}"
                blocks.append(Code(f"{title}\n{text.text.strip()}"))
    missing = missing_stages(recording.processes, asked)
    if missing:
        blocks.append(Paragraph(not_recorded(recording, missing), "warning"))
    return blocks


def not_recorded(recording: Recording, missing: Sequence[str]) -> str:
    """Which stages are missing from what was selected, and which the recording has."""
    has = recorded_stages(recording.processes)
    there = f"it has {', '.join(has)}" if has else "it has no stage at all"
    verb = "is" if len(missing) == 1 else "are"
    return f"{', '.join(missing)} {verb} not recorded here; of the stages of a compile {there}."
