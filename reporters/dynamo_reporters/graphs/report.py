"""FX graphs: as tables, as readable code, drawn (dot, SVG), and as what later stages make of them."""

from collections.abc import Sequence

from dynamo_core.analysis.by_compile import by_compile
from dynamo_core.analysis.drawing.graph_boxes import Drawing, drawing_of
from dynamo_core.analysis.graphs.generated_program import CONTENTS
from dynamo_core.analysis.graphs.node_text import counts_text, place_in
from dynamo_core.analysis.not_recorded import probe_failed
from dynamo_core.analysis.summary import graphs_recorded_in
from dynamo_core.analysis.training_pairs import pairs_of
from dynamo_core.analysis.words import (
    compile_label,
    number,
    place,
    process_title,
    seconds,
    seconds_in_calls,
)
from dynamo_core.model import CompileId, Graph, Node, Process, Recording, Symbol
from dynamo_core.recording.aot_text import AOT_PAIRS_FROM_TEXT

from ..detail import Detail
from ..documents import json_value
from ..page.blocks import Block, Code, Column, Heading, Paragraph, Table
from ..parts.backends import backend_text, declined_lines
from ..parts.training.pages import training_page
from ..parts.training.words import pairs_facts
from ..parts.unrecorded import graphs_missing, no_graphs
from ..report import Report
from .document import graphs_of
from .dot import dot_text
from .stages import missing_stages, recorded_stages, records_of, stage_names, stage_title, texts_by_compile
from .svg import TitledDrawing, svg_text
from .table import node_tables

_NO_GRAPH = "No graph was handed to a backend."
_COLUMNS = ("opcode", "name", "target", "args", "kwargs")
_MORE_COLUMNS = ("shape", "stride", "dtype", "device", "line")


def report(
    style: str = "tabular", stages: Sequence[str] = (), show_all: bool = False, training: bool = False
) -> Report:
    """The report of `dynamo graphs`.

    With `stages`, of the texts of those instead of the graphs; with `training`, of the forward and backward
    graphs and what is saved between them.
    """

    def page(recording: Recording) -> list[Block]:
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
    return Report(
        "dynamo-graphs", 2, contents, page, lambda recording: json_value(graphs_of(recording, stages))
    )


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
    """One graph for DYNAMO_LOGS: a title, and the classic table of its nodes."""
    blocks: list[Block] = [Heading(graph_title(graph), 3)]
    if detail is Detail.LESS or graph.nodes is None:
        return blocks
    headings = _COLUMNS + (_MORE_COLUMNS if detail is Detail.MORE else ())
    rows = [[node.op, node.name, node.target, node.args, node.kwargs] for node in graph.nodes]
    if detail is Detail.MORE:
        rows = [
            row + _tensor_cells(node) + [place(node.place) if node.place else ""]
            for row, node in zip(rows, graph.nodes, strict=True)
        ]
    return [*blocks, Table([Column(name) for name in headings], rows)]


def _tensor_cells(node: Node) -> list[str]:
    if node.symbol is not None:
        return [node.symbol, "", "", ""]
    shapes = "; ".join(str(list(tensor.shape)) for tensor in node.tensors)
    strides = "; ".join("" if tensor.stride is None else str(list(tensor.stride)) for tensor in node.tensors)
    kinds = "; ".join(dict.fromkeys(tensor.dtype for tensor in node.tensors))
    devices = "; ".join(dict.fromkeys(tensor.device for tensor in node.tensors))
    return [shapes, strides, kinds, devices]


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
    said = Paragraph("Its nodes were not recorded; this is torch's own text of it.", "dim")
    return [*blocks, said, Code(graph.code)], False


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
    return heading + (f", {not_taken:,} that the backend declined" if not_taken else "")


def _facts(graph: Graph, process: Process, symbols: Sequence[Symbol]) -> list[str]:
    """What is known of a graph besides its nodes, a line for each subject."""
    facts = []
    if graph.backend is not None:
        took = f" took {seconds(graph.backend_seconds)}" if graph.backend_seconds is not None else ""
        facts.append(f"backend {backend_text(graph)}{took}")
    if graph.is_specialization:
        facts.append("a specialization of a graph that counts already")
    elif not graph.is_compiled:
        facts.append("the backend declined it")
    if graph.calls is not None:
        on_host = seconds_in_calls(graph.host_seconds, graph.times)
        spent = f", {on_host} on the host" if graph.calls else ""
        facts.append(f"called {number(graph.calls, 'time')}{spent}")
    if graph.is_running:
        facts.append("a call has not returned")
    lines = ["; ".join(facts)] if facts else []
    lines += declined_lines(graph)
    if symbols and graph.compile_id is not None:
        sizes = (f"{symbol.name} = {symbol.hint} ({symbol.source})" for symbol in symbols)
        lines.append(f"symbolic sizes, as met when compiling: {', '.join(dict.fromkeys(sizes))}")
    return lines + pairs_facts(pairs_of(graph, process))


def _closing(recording: Recording, says_less: bool) -> list[Block]:
    """What else there is to see, where there is."""
    if not any(process.graphs for process in recording.processes):
        is_said = probe_failed(recording.processes, "graphs") is not None
        return [] if is_said else [Paragraph(no_graphs(recording, _NO_GRAPH))]
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
