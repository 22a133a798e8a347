"""Graphs: a table of them, and for each what is known, its nodes, and its texts at every stage."""

import xml.etree.ElementTree as xml
from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from dynamo_core.analysis.graphs.drawing import Box, Drawing, drawing_of
from dynamo_core.analysis.graphs.nodes import counts_text
from dynamo_core.analysis.summary import graphs_recorded_in, were_not_recorded
from dynamo_core.analysis.words import (
    compile_label,
    count_text,
    graph_frame,
    seconds_in_calls,
)
from dynamo_core.model import CompileId, Graph, Process, Recording, Stage, Symbol
from dynamo_core.recording.kernels import PROVENANCE, Sources
from dynamo_core.shared.quick_dataclass import dataclass

from ..graphs.document import stage_of
from ..graphs.drawing import TitledDrawing, svg_text
from ..graphs.report import graph_section, short_title
from ..page.blocks import bounded
from ..page.blocks import table as block_table
from ..parts.backends import backend_text
from .blocks import elements, table
from .element import Child, Element, h, lazy
from .links import Links, link
from .sections import of_process

# Drawings of boxes and arrows: the same as of `dynamo graphs --style svg`, as elements of the page.


_NAMESPACE = "{http://www.w3.org/2000/svg}"
_NODES_NAMED = 3  # of a kernel, in its box
_LONGEST_NAME = 48


def drawn(title: str, drawing: Drawing) -> Element:
    """The drawing, or the reason why there is none."""
    if drawing.too_large is not None:
        return h("p", f"Not drawn: {drawing.too_large}.", class_="dim")
    # Our own drawing, in which all text was escaped.
    svg = _element(xml.fromstring(svg_text([TitledDrawing(title, drawing)])))
    return h("div", svg, class_="drawing", tabindex="0", role="group", aria_label=title)


def shown(title: str, drawing: Element, is_open: bool = False) -> Iterator[Element]:
    """A drawing under its title, which is drawn when it is opened."""
    make = h if is_open else lazy
    yield h("details", h("summary", title), make("div", drawing), open=is_open)


def fused_drawing(graph: Graph, kernels: Mapping[str, Sources]) -> Drawing | None:
    """A graph with a box for each kernel in place of the nodes that it holds; None where that has no order.

    A node that is in several kernels, as it is computed again, is drawn in the first of them.
    """
    holders: dict[str, str] = {}
    for kernel, (nodes, _) in kernels.items():
        for name in nodes:
            holders.setdefault(name, kernel)
    single = {box.name: box for box in drawing_of(graph, folds=False).boxes}
    name_of = {node.name: holders.get(node.name, node.name) for node in graph.nodes or ()}
    reads: dict[str, set[str]] = {}
    for node in graph.nodes or ():
        own = name_of[node.name]
        if node.name in single or own in kernels:
            given = {name_of.get(name, name) for name in node.inputs} - {own}
            reads.setdefault(own, set()).update(name for name in given if name in kernels or name in single)
    try:
        order = list(TopologicalSorter({name: sorted(given) for name, given in reads.items()}).static_order())
    except CycleError:
        return None
    boxes = tuple(_kernel_box(name, kernels[name]) if name in kernels else single[name] for name in order)
    at = {name: position for position, name in enumerate(order)}
    arrows = sorted((at[given], at[name]) for name, all_given in reads.items() for given in all_given)
    return Drawing(boxes, tuple(arrows))


def _kernel_box(kernel: str, sources: Sources) -> Box:
    nodes, places = sources
    more = f", and {len(nodes) - _NODES_NAMED} more" if len(nodes) > _NODES_NAMED else ""
    named = f"{', '.join(nodes[:_NODES_NAMED])}{more}"[:_LONGEST_NAME]
    lines = ", ".join(f"{place.file.rpartition('/')[2]}:{place.line}" for place in places)[:_LONGEST_NAME]
    parts = tuple(filter(None, (kernel[:_LONGEST_NAME], named, lines)))
    whole = "\n".join([kernel, ", ".join(nodes), *map(str, places)])
    return Box(kernel, "op", parts, whole, 1, places[0] if places else None)


def _element(node: xml.Element) -> Element:
    attributes = {name: value for name, value in node.attrib.items() if name != "class"}
    return h(node.tag.removeprefix(_NAMESPACE), _children(node), class_=node.get("class"), **attributes)


def _children(node: xml.Element) -> Iterator[Child]:
    if node.text and node.text.strip():
        yield node.text
    for child in node:
        if child.tag != f"{_NAMESPACE}style":  # the page's own style has its colours
            yield _element(child)


_MOST_ROWS = 5_000
_FEW = 40  # boxes that are shown at once; more are drawn when they are asked for
_LOWERED = "inductor_output_code"
Kernel = tuple[str, Sources]


@dataclass(frozen=True)
class StageText:
    """A text of torch's, whether it is of the forward or the backward, and where the page has it."""

    stage: Stage
    direction: str | None
    route: str


def graphs_index(recording: Recording, links: Links, head: Element) -> Element:
    """All graphs, those first in which most time was spent."""
    parts: list[Child] = []
    for process in recording.processes:
        graphs = _table(process, links)
        parts.append(of_process(process, [graphs]) if len(recording.processes) > 1 else graphs)
    return h("div", head, parts)


def _table(process: Process, links: Links) -> Element:
    if not process.graphs:
        nothing = (
            "No graph was handed to a backend."
            if graphs_recorded_in(process)
            else were_not_recorded("Graphs", [process], "graphs")
        )
        return h("p", nothing, class_="dim")
    graphs = sorted(process.graphs, key=lambda graph: (-(graph.host_seconds or 0.0), graph.number))
    host_time = "forward (host)" if any(graph.backward for graph in graphs) else "host time"
    rows = [
        [
            f"graph {graph.number} {compile_label(graph.compile_id)}"
            + ("" if graph.is_compiled else " (not taken)"),
            count_text(graph.ops),
            count_text(graph.calls),
            seconds_in_calls(graph.host_seconds, graph.times),
            backend_text(graph),
            f"{graph_frame(graph)} {graph.frame_place or 'unknown place'}",
        ]
        for graph in graphs[:_MOST_ROWS]
    ]
    found = table(block_table(f"graph|ops>|calls>|{host_time}>|backend|from", rows), links, process)
    more = len(graphs) - len(rows)
    return h("div", found, h("p", f"… and {more:,} more", class_="dim") if more > 0 else None)


def graph_page(
    graph: Graph,
    process: Process,
    symbols: Sequence[Symbol],
    stages: Sequence[Stage],
    kernels: Sequence[Kernel],
    links: Links,
) -> Element:
    """One graph: facts, drawings, the table of its nodes, its kernels, and the stages it went through."""
    blocks, is_short = graph_section(graph, process, symbols, show_all=False)
    _, *rest = elements(bounded(blocks), links, process)
    names = list(dict.fromkeys(map(stage_of, (stage.name for stage in stages))))
    routes = [(name, links.graph(process, graph.number, name)) for name in names]
    return h(
        "article",
        h("p", link("graphs", "all graphs")),
        h("h2", f"Graph {graph.number}"),
        h("p", links.text(short_title(graph), process), ": ", counts_text(graph), class_="dim"),
        h("p", "Its texts at each stage: ", _joined(link(route, name) for name, route in routes if route))
        if names
        else None,
        list(_drawings(graph, stages, kernels)),
        h("h3", "Nodes"),
        rest,
        list(_kernels(kernels, any(stage.name == _LOWERED for stage in stages), process, links)),
        _all_nodes(graph, process, symbols, links) if is_short else None,
    )


def _drawings(graph: Graph, stages: Sequence[Stage], kernels: Sequence[Kernel]) -> Iterator[Element]:
    if graph.nodes is None:
        return
    drawing = drawing_of(graph)
    yield from shown("Drawing", drawn(f"graph {graph.number}", drawing), is_open=len(drawing.boxes) <= _FEW)
    # Of a forward and a backward, which name the same nodes, it is not known whose a kernel is.
    codes = [stage for stage in stages if stage.name == _LOWERED]
    fused = fused_drawing(graph, dict(kernels)) if kernels and len(codes) == 1 else None
    if fused is not None:
        yield from shown(
            "Drawing after fusion: a box for each kernel", drawn(f"graph {graph.number}, fused", fused)
        )


def _kernels(kernels: Sequence[Kernel], is_lowered: bool, process: Process, links: Links) -> Iterator[Child]:
    """Which nodes Inductor put into which kernel, and the lines that they come from."""
    if not kernels:
        if is_lowered:
            text = "Which kernel holds which nodes was not recorded. torch records it with "
            yield h(
                "p", text, h("code", "INDUCTOR_PROVENANCE=1 dynamo run …", class_="command"), class_="dim"
            )
        return
    yield h("h3", "Kernels that Inductor made of it")
    rows = [
        [kernel, ", ".join(nodes), "\n".join(map(str, places))]
        for kernel, (nodes, places) in kernels[:_MOST_ROWS]
    ]
    yield table(block_table("kernel|nodes|lines", rows), links, process)


def _all_nodes(graph: Graph, process: Process, symbols: Sequence[Symbol], links: Links) -> Element:
    blocks, _ = graph_section(graph, process, symbols, show_all=True)
    every = elements(bounded(blocks), links, process)[1:]
    return h("details", h("summary", "Every node, under its FX name"), lazy("div", every))


def _joined(children: Iterable[Child]) -> Iterator[Child]:
    for at, child in enumerate(children):
        if at:
            yield " · "
        yield child


def stage_page(
    graph: Graph, process: Process, name: str, texts: Iterable[StageText], links: Links
) -> Element:
    """What a graph is at one stage: torch's own texts, each at a route of its own."""
    route = links.graph(process, graph.number) or ""
    parts: list[Child] = []
    for text in texts:
        which = f" ({text.direction})" if text.direction else ""
        parts.append(h("h3", f"{text.stage.name.replace('_', ' ')}{which}"))
        parts.append(h("div", data_include=text.route))
    return h(
        "article",
        h("p", link(route, f"graph {graph.number}")),
        h("h2", f"Graph {graph.number} at stage {name}"),
        parts,
    )


def stages_by_compile(process: Process) -> dict[CompileId | None, dict[str, list[Stage]]]:
    """The recorded texts of each compile, by stage."""
    found: dict[CompileId | None, dict[str, list[Stage]]] = {}
    for stage in process.stages:
        if stage.name == PROVENANCE:  # a mapping, and no text of a graph
            continue
        found.setdefault(stage.compile_id, {}).setdefault(stage_of(stage.name), []).append(stage)
    return found
