"""Drawings of boxes and arrows: the same as of `dynamo graphs --style svg`, as elements of the page."""

import xml.etree.ElementTree as xml
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from dynamo_core.analysis.drawing.graph_boxes import Box, Drawing, drawing_of
from dynamo_core.model import Graph
from dynamo_core.recording.kernel_sources import Sources

from ..graphs.svg import TitledDrawing, svg_text
from .element import Child, Element, h, later

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
    make = h if is_open else later
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
    said = tuple(filter(None, (kernel[:_LONGEST_NAME], named, lines)))
    whole = "\n".join([kernel, ", ".join(nodes), *map(str, places)])
    return Box(kernel, "op", said, whole, 1, places[0] if places else None)


def _element(node: xml.Element) -> Element:
    attributes = {name: value for name, value in node.attrib.items() if name != "class"}
    return h(node.tag.removeprefix(_NAMESPACE), _children(node), class_=node.get("class"), **attributes)


def _children(node: xml.Element) -> Iterator[Child]:
    if node.text and node.text.strip():
        yield node.text
    for child in node:
        if child.tag != f"{_NAMESPACE}style":  # the page's own style has its colours
            yield _element(child)
