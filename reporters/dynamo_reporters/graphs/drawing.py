"""FX graphs drawn as one SVG file, without Graphviz: it needs nothing, loads nothing and runs nothing."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from unicodedata import east_asian_width
from xml.sax.saxutils import escape

from dynamo_core.analysis.graphs.drawing import Box, BoxKind, Drawing, Point, laid_out
from dynamo_core.shared.quick_dataclass import dataclass

# In pixels, for a monospaced font of 12: those in use are 0.60 to 0.61 of their size wide.
_CHARACTER = 7.4
_LINE = 16.0
_PADDING = 8.0
_TITLE = 34.0
_LEAST_WIDTH = 360.0
_STUB = 16.0  # what is drawn of an arrow that is too long to follow
_NOT_IN_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_STYLE = """\
text { font: 12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #1b1f24; }
.title { font-weight: bold; font-size: 13px; }
.first { font-weight: bold; }
.more { fill: #4b535d; }
rect { stroke: #57606a; }
.page { fill: #ffffff; stroke: none; }
.input { fill: #dbeafe; }
.op { fill: #f6f8fa; }
.output { fill: #fde2d8; }
.repeats { stroke-width: 3; }
path { fill: none; stroke: #57606a; stroke-width: 1.2; }
.cut { stroke-dasharray: 2 3; }
.tip { fill: #57606a; stroke: none; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.more { fill: #b3bcc6; }
rect, path { stroke: #9aa5b1; }
.tip { fill: #9aa5b1; }
.page { fill: #0d1117; }
.input { fill: #16325c; }
.op { fill: #1c222b; }
.output { fill: #4d2419; }
}
"""


@dataclass(frozen=True)
class TitledDrawing:
    """A graph under its title; `drawing` is None where its nodes were not recorded."""

    title: str
    drawing: Drawing | None


def svg_text(graphs: Iterable[TitledDrawing]) -> str:
    """All of them in one document, one below the other."""
    parts: list[str] = []
    width, top = _LEAST_WIDTH, 0.0
    for graph in graphs:
        inside, its_width, its_height = _drawn(graph)
        parts.append(f'<g transform="translate(0 {_number(top)})">\n{inside}</g>\n')
        width, top = max(width, its_width, len(graph.title) * 8.2 + 40), top + its_height
    size = f"{_number(width)} {_number(top)}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{_number(width)}" '
        f'height="{_number(top)}">\n<style>\n{_STYLE}</style>\n'
        f'<rect class="page" width="{_number(width)}" height="{_number(top)}"/>\n{"".join(parts)}</svg>\n'
    )


def _drawn(graph: TitledDrawing) -> tuple[str, float, float]:
    """The elements of one graph, their width and height."""
    title = f'<text class="title" x="18" y="24">{_text(graph.title)}</text>\n'
    drawing = graph.drawing
    if drawing is None or drawing.too_large is not None:
        why = "Its nodes were not recorded." if drawing is None else f"Not drawn: {drawing.too_large}."
        return f'{title}<text class="more" x="18" y="46">{_text(why)}</text>\n', _LEAST_WIDTH, _TITLE + 30
    layout = laid_out([_size(box) for box in drawing.boxes], drawing.arrows)
    centres, sizes = layout.centres, [_size(box) for box in drawing.boxes]
    arrows = "".join(
        _path(route) if route is not None else _stub(centres[reader], sizes[reader][1])
        for route, (_, reader) in zip(layout.routes, drawing.arrows, strict=True)
    )
    boxes = "".join(_box(*each) for each in zip(drawing.boxes, centres, sizes, strict=True))
    inside = f'{title}<g transform="translate(0 {_number(_TITLE)})">\n{arrows}{boxes}</g>\n'
    return inside, layout.width, layout.height + _TITLE + 10


def _size(box: Box) -> tuple[float, float]:
    columns = max(sum(2 if east_asian_width(c) in "WF" else 1 for c in line) for line in box.lines)
    return columns * _CHARACTER + 2 * _PADDING, len(box.lines) * _LINE + 2 * _PADDING - 4


def _box(box: Box, centre: Point, size: tuple[float, float]) -> str:
    left, top = centre[0] - size[0] / 2, centre[1] - size[1] / 2
    look = f"{box.kind} repeats" if box.times > 1 else box.kind
    corner = 3 if box.kind == "op" else 12
    lines = "".join(
        f'<text class="{"more" if at else "first"}" x="{_number(left + _PADDING)}" '
        f'y="{_number(top + _PADDING + _LINE * at + 10)}">{_text(line)}</text>'
        for at, line in enumerate(box.lines)
    )
    return (
        f"<g><title>{_text(box.whole)}</title>"
        f'<rect class="{look}" x="{_number(left)}" y="{_number(top)}" width="{_number(size[0])}" '
        f'height="{_number(size[1])}" rx="{corner}"/>{lines}</g>\n'
    )


def _path(route: tuple[Point, ...]) -> str:
    """A line that leaves and arrives upright, with a tip."""
    steps = "".join(_curves(route))
    return f'<path d="M{_point(route[0])}{steps}"/>{_tip(route[-1])}\n'


def _curves(route: tuple[Point, ...]) -> Iterator[str]:
    for (x, y), (to_x, to_y) in pairwise(route):
        middle = (y + to_y) / 2
        yield f"C{_point((x, middle))} {_point((to_x, middle))} {_point((to_x, to_y))}"


def _stub(centre: Point, height: float) -> str:
    end = (centre[0], centre[1] - height / 2)
    return f'<path class="cut" d="M{_point((end[0], end[1] - _STUB))}L{_point(end)}"/>{_tip(end)}\n'


def _tip(end: Point) -> str:
    return f'<path class="tip" d="M{_point(end)}l-3.5 -7h7z"/>'


def _point(point: Point) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _text(text: str) -> str:
    """Text that is nothing but text in XML, which has no way to say some characters."""
    return escape(_NOT_IN_XML.sub("\ufffd", text))


# An FX graph in Graphviz's language, to be drawn by `dot`.


# Fill colours of Graphviz's default scheme that print well; inputs and outputs have round corners, too.
_LOOKS: dict[BoxKind, str] = {
    "input": 'style="filled,rounded", fillcolor="lightblue"',
    "op": 'fillcolor="white"',
    "output": 'style="filled,rounded", fillcolor="lightpink"',
}


def dot_text(drawing: Drawing, number: int, title: str) -> str:
    """The drawing of graph `number` as a `digraph`."""
    names = [_quoted(box.name) for box in drawing.boxes]
    return "\n".join(
        [
            f"digraph graph_{number} {{",
            f"  label={_quoted(title)}; labelloc=t;",
            '  node [shape=box, style="filled", fontname="monospace", fontsize=10];',
            *(f"  {name} [{_attributes(box)}];" for name, box in zip(names, drawing.boxes, strict=True)),
            *(f"  {names[giver]} -> {names[reader]};" for giver, reader in drawing.arrows),
            "}",
        ]
    )


def _attributes(box: Box) -> str:
    # Each line ends in `\l`: it is set to the left.
    label = "".join(f"{_escaped(line)}\\l" for line in box.lines)
    return f'label="{label}", tooltip={_quoted(box.whole)}, {_LOOKS[box.kind]}'


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    """What may stand in double quotes; a backslash would begin one of Graphviz's escapes (`\\N`, `\\l`)."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
