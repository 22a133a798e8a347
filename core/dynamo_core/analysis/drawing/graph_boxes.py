"""What is drawn of an FX graph: a box for each input, op and output.

Parameters, buffers, constants and symbolic sizes are named in the ops that read them: a box for each would be
most of the drawing, and say less. Layers that repeat are drawn once.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from ...model import Graph, Node, Place
from ...shared.quick_dataclass import dataclass
from ..graphs.fold import Part, Repeat, folded, layer_token
from ..graphs.node_text import TIMES, arguments, kind_of, line_text, paths_of_state, user_lines, value_text
from ..words import number, place

_FEW = 40  # boxes that are drawn one by one
_MOST_BOXES = 2_000  # a drawing of more is no help, and takes seconds
_MOST_ARROWS = 10_000
_LINE = 48  # characters of a line in a box
_WHOLE = 2_000  # characters of what a box says in full

BoxKind = Literal["input", "op", "output"]


@dataclass(frozen=True)
class Box:
    """A node, or several of layers that repeat, as it is drawn.

    `lines` are short: which op, what it reads, what it gives. `whole` says the same without ellipses,
    with the user's line. `times` is how many nodes it stands for.
    """

    name: str
    kind: BoxKind
    lines: tuple[str, ...]
    whole: str
    times: int = 1
    place: Place | None = None


@dataclass(frozen=True)
class Drawing:
    """Boxes in the order in which the graph computes them, and from which to which an arrow leads.

    `too_large` says in a sentence why there are no boxes.
    """

    boxes: tuple[Box, ...]
    arrows: tuple[tuple[int, int], ...]
    too_large: str | None = None


def drawing_of(graph: Graph, *, folds: bool = True) -> Drawing:
    """The drawing of a graph whose nodes were recorded; of one without, an empty one.

    Layers that repeat are drawn once where it `folds`.
    """
    nodes = graph.nodes or ()
    drawn = [node for node in nodes if _has_box(node)]
    is_folded = folds and len(drawn) > _FEW
    parts = folded([layer_token(node) for node in drawn]) if is_folded else tuple(range(len(drawn)))
    stands_for = dict(_copies(parts))
    if len(stands_for) > _MOST_BOXES:
        return Drawing((), (), f"{number(len(stands_for), 'box', 'boxes')} are too many to draw")
    position = {first: at for at, first in enumerate(stands_for)}
    of_name = {drawn[copy].name: position[first] for first, copies in stands_for.items() for copy in copies}
    arrows = list(_arrows(drawn, of_name, stands_for))
    if len(arrows) > _MOST_ARROWS:
        return Drawing((), (), f"{number(len(arrows), 'arrow')} are too many to draw")
    lines = user_lines(graph.code)
    paths = _named_in_ops(nodes)
    boxes = tuple(_box(drawn[first], len(copies), paths, lines) for first, copies in stands_for.items())
    return Drawing(boxes, tuple(arrows))


def _has_box(node: Node) -> bool:
    if node.op == "placeholder":
        return kind_of(node) == "input"
    return node.op != "get_attr"


def _copies(parts: Iterable[Part]) -> Iterable[tuple[int, list[int]]]:
    """Each item that is drawn, with all that it stands for."""
    for part in parts:
        if isinstance(part, Repeat):
            for first, copies in _copies(part.parts):
                yield first, [copy + part.period * time for time in range(part.times) for copy in copies]
        else:
            yield part, [part]


def _arrows(
    drawn: Sequence[Node], of_name: Mapping[str, int], stands_for: Mapping[int, Sequence[int]]
) -> Iterable[tuple[int, int]]:
    """From what is read to what reads it, each once; not back up, from one layer into the next copy of it."""
    for reader, copies in enumerate(stands_for.values()):
        read = (of_name.get(name, reader) for copy in copies for name in drawn[copy].inputs)
        yield from sorted({(giver, reader) for giver in read if giver < reader})


def _named_in_ops(nodes: Sequence[Node]) -> dict[str, str]:
    """What has no box, by its FX name, as the user knows it."""
    others = {node.name: node.target for node in nodes if node.op == "get_attr"}
    symbols = {
        node.name: node.symbol
        for node in nodes
        if node.op == "placeholder" and node.symbol is not None and kind_of(node) == "symbol"
    }
    return others | symbols | paths_of_state(nodes)


def _box(node: Node, times: int, paths: Mapping[str, str], lines: Mapping[Place, tuple[str, str]]) -> Box:
    again = f" {TIMES} {times}" if times > 1 else ""
    said = _said(node, paths)
    value = value_text(node)
    where = place(node.place).rpartition("/")[2] if node.place is not None else ""
    last = " \u00b7 ".join(filter(None, (_short(value, max(_LINE - len(where) - 3, 1)), _short(where))))
    short = [_short(text) for text in (*said, last) if text]
    short[0] = _short(said[0], _LINE - len(again)) + again
    whole = "\n".join(filter(None, (said[0] + again, *said[1:], value, line_text(node.place, lines))))
    kind: BoxKind = "input" if node.op == "placeholder" else "output" if node.op == "output" else "op"
    return Box(node.name, kind, tuple(short), whole[:_WHOLE], times, node.place)


def _said(node: Node, paths: Mapping[str, str]) -> list[str]:
    """Which node it is, and what it reads."""
    if node.op == "placeholder":
        return [node.name, node.source or ""]
    if node.op == "output":
        return ["output", arguments(node, paths)]
    return [f"{node.name} = {node.target}", arguments(node, paths)]


def _short(text: str, most: int = _LINE) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}\u2026"
