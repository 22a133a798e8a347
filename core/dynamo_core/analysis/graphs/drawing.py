"""The drawing of an FX graph: its boxes (inputs, ops, outputs) and arrows, and their layered layout.

Parameters, buffers, constants and symbolic sizes have no box: the ops that read them name them, since boxes
for them would be most of the drawing. Layers that repeat are drawn once.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Literal

from ...model import Graph, Node, Place
from ...shared.quick_dataclass import dataclass
from ..words import number, place
from .nodes import (
    TIMES,
    Part,
    Repeat,
    arguments,
    folded,
    kind_of,
    layer_token,
    line_text,
    paths_of_state,
    user_lines,
    value_text,
)

_FEW = 40  # boxes; with more, repeated layers are folded
_MOST_BOXES = 2_000  # a larger drawing does not help, and takes seconds
_MOST_ARROWS = 10_000
_LINE = 48  # characters of a line in a box
_WHOLE = 2_000  # characters of the full text of a box

BoxKind = Literal["input", "op", "output"]


@dataclass(frozen=True)
class Box:
    """The box of a node, or of the same node in `times` repeated layers.

    `lines` is a short text: the op, its arguments, its result. `whole` is the same text without ellipses,
    with the user's line.
    """

    name: str
    kind: BoxKind
    lines: tuple[str, ...]
    whole: str
    times: int = 1
    place: Place | None = None


@dataclass(frozen=True)
class Drawing:
    """The boxes in the order in which the graph computes them, and the arrows as pairs of their positions.

    `too_large` says in a sentence why there are no boxes.
    """

    boxes: tuple[Box, ...]
    arrows: tuple[tuple[int, int], ...]
    too_large: str | None = None


def drawing_of(graph: Graph, *, folds: bool = True) -> Drawing:
    """The drawing of a graph, which is empty if its nodes were not recorded.

    If `folds` is set, layers that repeat are drawn once.
    """
    nodes = graph.nodes or ()
    drawn = [node for node in nodes if _has_box(node)]
    is_folded = folds and len(drawn) > _FEW
    parts = folded([layer_token(node) for node in drawn]) if is_folded else tuple(range(len(drawn)))
    stands_for = dict(_copies(parts))
    if len(stands_for) > _MOST_BOXES:
        return Drawing((), (), f"{number(len(stands_for), 'box', 'boxes')} are too many to draw")
    position = {first: index for index, first in enumerate(stands_for)}
    by_name = {drawn[copy].name: position[first] for first, copies in stands_for.items() for copy in copies}
    arrows = list(_arrows(drawn, by_name, stands_for))
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
    """Each item that is drawn, with all items that it stands for."""
    for part in parts:
        if isinstance(part, Repeat):
            for first, copies in _copies(part.parts):
                yield first, [copy + part.period * time for time in range(part.times) for copy in copies]
        else:
            yield part, [part]


def _arrows(
    drawn: Sequence[Node], by_name: Mapping[str, int], stands_for: Mapping[int, Sequence[int]]
) -> Iterable[tuple[int, int]]:
    """The arrows from a box to each box that reads it; none back up from a layer to its next copy."""
    for reader, copies in enumerate(stands_for.values()):
        read = (by_name.get(name, reader) for copy in copies for name in drawn[copy].inputs)
        yield from sorted({(giver, reader) for giver in read if giver < reader})


def _named_in_ops(nodes: Sequence[Node]) -> dict[str, str]:
    """The user's names of the nodes without a box, by FX name."""
    others = {node.name: node.target for node in nodes if node.op == "get_attr"}
    symbols = {
        node.name: node.symbol
        for node in nodes
        if node.op == "placeholder" and node.symbol is not None and kind_of(node) == "symbol"
    }
    return others | symbols | paths_of_state(nodes)


def _box(node: Node, times: int, paths: Mapping[str, str], lines: Mapping[Place, tuple[str, str]]) -> Box:
    repeated = f" {TIMES} {times}" if times > 1 else ""
    texts = _node_texts(node, paths)
    value = value_text(node)
    where = place(node.place).rpartition("/")[2] if node.place is not None else ""
    last = " \u00b7 ".join(filter(None, (_short(value, max(_LINE - len(where) - 3, 1)), _short(where))))
    short = [_short(text) for text in (*texts, last) if text]
    short[0] = _short(texts[0], _LINE - len(repeated)) + repeated
    whole = "\n".join(filter(None, (texts[0] + repeated, *texts[1:], value, line_text(node.place, lines))))
    kind: BoxKind = "input" if node.op == "placeholder" else "output" if node.op == "output" else "op"
    return Box(node.name, kind, tuple(short), whole[:_WHOLE], times, node.place)


def _node_texts(node: Node, paths: Mapping[str, str]) -> list[str]:
    """The name of a node with its target, and its arguments."""
    if node.op == "placeholder":
        return [node.name, node.source or ""]
    if node.op == "output":
        return ["output", arguments(node, paths)]
    return [f"{node.name} = {node.target}", arguments(node, paths)]


def _short(text: str, most: int = _LINE) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}\u2026"


# A layered layout: boxes in rows, one below the other, so that every arrow leads down.
#
# The steps are Sugiyama's: rows by the longest path, an order in each row with few crossings, and x positions
# at which arrows are as straight as the boxes allow. This part does not depend on what the boxes are.

Arrow = tuple[int, int]  # from which box to which, by their positions in the list of boxes
Point = tuple[float, float]

_MOST_IN_ROW = 8  # boxes; more of them (a hundred inputs of one operator) continue in the next row
_LONGEST = 24  # rows that an arrow may cross; a longer one can hardly be followed
_GAP = 18.0  # between boxes of a row; between rows it is twice that
_ORDERINGS = 8  # passes, down and up in turn; more of them change little
_PLACINGS = 24
_STRAIGHT = 8.0  # weight of a bend in a long arrow; a short arrow has 1


@dataclass(frozen=True)
class Layout:
    """The positions of boxes and arrows, in the unit of the given sizes; x to the right, y down.

    `centres` are the centres of the boxes. A route has the points of an arrow, from the lower edge of one box
    to the upper edge of the other; None for an arrow that would lead up, or cross too many rows.
    """

    width: float
    height: float
    centres: tuple[Point, ...]
    routes: tuple[tuple[Point, ...] | None, ...]


def laid_out(sizes: Sequence[tuple[float, float]], arrows: Sequence[Arrow]) -> Layout:
    """The layout of boxes of these widths and heights, which is deterministic.

    The time grows with the number of boxes and arrows, which callers bound; an arrow has at most `_LONGEST`
    points.
    """
    rows = _rows(len(sizes), [arrow for arrow in arrows if arrow[0] < arrow[1]])
    chains: dict[int, list[int]] = {}  # by the index of an arrow: its boxes and the bends between them
    row_of = list(rows)
    for index, (start, end) in enumerate(arrows):
        if start < end and rows[end] - rows[start] <= _LONGEST:
            bends = range(len(row_of), len(row_of) + rows[end] - rows[start] - 1)
            row_of += range(rows[start] + 1, rows[end])
            chains[index] = [start, *bends, end]
    grid = _Grid(row_of, [width for width, _ in sizes], chains.values())
    grid.put_in_order()
    x = grid.places()
    tops, height = _tops(rows, sizes)
    margin = _GAP - min((x[i] - sizes[i][0] / 2 for i in range(len(sizes))), default=0.0)
    margin = max(margin, _GAP - min(x, default=0.0))
    right = max([x[i] + sizes[i][0] / 2 for i in range(len(sizes))] + x, default=0.0)

    def route(chain: list[int]) -> tuple[Point, ...]:
        first, *bends, last = chain
        middles = [(x[bend] + margin, sum(tops[row_of[bend]]) / 2) for bend in bends]
        begin = (x[first] + margin, tops[rows[first]][0] + sizes[first][1])
        return (begin, *middles, (x[last] + margin, tops[rows[last]][0]))

    centres = tuple((x[i] + margin, tops[rows[i]][0] + size[1] / 2) for i, size in enumerate(sizes))
    routes = tuple(route(chains[index]) if index in chains else None for index in range(len(arrows)))
    return Layout(right + margin + _GAP, height, centres, routes)


def _rows(count: int, arrows: Iterable[Arrow]) -> list[int]:
    """The row of each box: below all boxes that it reads; without inputs, just above its first reader."""
    readers: list[list[int]] = [[] for _ in range(count)]
    reads: list[list[int]] = [[] for _ in range(count)]
    for start, end in arrows:
        readers[start].append(end)
        reads[end].append(start)
    rows = [0] * count
    for box in range(count):
        rows[box] = 1 + max((rows[read] for read in reads[box]), default=-1)
    for box in range(count):
        if not reads[box] and readers[box]:
            rows[box] = min(rows[reader] for reader in readers[box]) - 1
    return _not_too_wide(rows)


def _not_too_wide(rows: list[int]) -> list[int]:
    """The rows after each row with too many boxes was spread over several."""
    boxes: dict[int, list[int]] = {}
    for box, row in enumerate(rows):
        boxes.setdefault(row, []).append(box)
    spread = [0] * len(rows)
    first = 0
    for row in sorted(boxes):
        for index, box in enumerate(boxes[row]):
            spread[box] = first + index // _MOST_IN_ROW
        first += -(-len(boxes[row]) // _MOST_IN_ROW)
    return spread


def _tops(
    rows: Sequence[int], sizes: Sequence[tuple[float, float]]
) -> tuple[list[tuple[float, float]], float]:
    """The upper and lower edge of each row, and the height of the whole drawing."""
    heights = [0.0] * (max(rows, default=-1) + 1)
    for row, (_, height) in zip(rows, sizes, strict=True):
        heights[row] = max(heights[row], height)
    ends = list(accumulate((height + 2 * _GAP for height in heights), initial=_GAP))
    tops = [(top, top + height) for top, height in zip(ends, heights, strict=False)]
    return tops, max(ends[-1] - _GAP, _GAP)


class _Grid:
    """The boxes, and the bends of arrows, in rows: finds their order in each row, then their x positions."""

    def __init__(self, row_of: Sequence[int], widths: Sequence[float], chains: Iterable[list[int]]) -> None:
        self._widths = [*widths, *[0.0] * (len(row_of) - len(widths))]
        self._rows: list[list[int]] = [[] for _ in range(max(row_of, default=-1) + 1)]
        for item, row in enumerate(row_of):
            self._rows[row].append(item)
        self._above: list[list[tuple[int, float]]] = [[] for _ in row_of]
        self._below: list[list[tuple[int, float]]] = [[] for _ in row_of]
        for chain in chains:
            weight = 1.0 if len(chain) == 2 else _STRAIGHT
            for upper, lower in pairwise(chain):
                self._below[upper].append((lower, weight))
                self._above[lower].append((upper, weight))

    def put_in_order(self) -> None:
        """Order each row by where its neighbours are; keep the order that has the fewest crossings."""
        best = [list(row) for row in self._rows]
        fewest = self._crossings()
        for sweep in range(_ORDERINGS):
            if fewest == 0:
                break
            self._sort_rows(downwards=sweep % 2 == 0)
            crossings = self._crossings()
            if crossings < fewest:
                fewest, best = crossings, [list(row) for row in self._rows]
        self._rows = best

    def _sort_rows(self, downwards: bool) -> None:
        neighbours = self._above if downwards else self._below
        position = self._positions()
        for row in self._rows if downwards else reversed(self._rows):
            wanted = {
                item: sum(position[other] for other, _ in neighbours[item]) / len(neighbours[item])
                if neighbours[item]
                else position[item]
                for item in row
            }
            row.sort(key=lambda item: wanted[item])
            position.update((item, float(index)) for index, item in enumerate(row))

    def _positions(self) -> dict[int, float]:
        return {item: float(index) for row in self._rows for index, item in enumerate(row)}

    def _crossings(self) -> int:
        """The number of crossings: for each arrow, the earlier ones of its row that end further right."""
        position = self._positions()
        count = 0
        for row in self._rows:
            ends: list[float] = []
            for item in row:
                own = sorted(position[lower] for lower, _ in self._below[item])
                count += sum(len(ends) - bisect_right(ends, end) for end in own)
                for end in own:
                    insort(ends, end, lo=bisect_left(ends, end))
        return count

    def places(self) -> list[float]:
        """The x of each item: near its neighbours, in the order of its row, with room for its width."""
        x = [0.0] * len(self._widths)
        for row in self._rows:
            self._place(row, [0.0] * len(row), [1.0] * len(row), x)
        for sweep in range(_PLACINGS):
            downwards = sweep % 2 == 0
            for row in self._rows if downwards else reversed(self._rows):
                near = self._above if downwards else self._below
                # In the last passes both sides count, so that a box is between its inputs and its readers.
                sides = [near] if sweep < _PLACINGS - 2 else [self._above, self._below]
                pulls = [[pull for side in sides for pull in side[item]] for item in row]
                weights = [sum(weight for _, weight in pull) for pull in pulls]
                wanted = [
                    sum(x[other] * weight for other, weight in pull) / total if total else x[item]
                    for item, pull, total in zip(row, pulls, weights, strict=True)
                ]
                self._place(row, wanted, [max(weight, 0.1) for weight in weights], x)
        return x

    def _place(
        self, row: Sequence[int], wanted: Sequence[float], weights: Sequence[float], x: list[float]
    ) -> None:
        """Place the items of a row as near to the wanted positions as possible without overlap.

        Without the widths to the left of it, the position of an item may not be less than that of the item
        before: items that would overlap become a block at their mean position (isotonic least squares by pool
        adjacent violators).
        """
        room = [(self._widths[a] + self._widths[b]) / 2 + _GAP for a, b in pairwise(row)]
        before = list(accumulate(room, initial=0.0))
        blocks: list[tuple[float, float, int]] = []  # mean, weight, how many items
        for want, offset, weight in zip(wanted, before, weights, strict=False):
            mean, total, count = want - offset, weight, 1
            while blocks and blocks[-1][0] > mean:
                earlier, its_weight, its_count = blocks.pop()
                mean = (mean * total + earlier * its_weight) / (total + its_weight)
                total, count = total + its_weight, count + its_count
            blocks.append((mean, total, count))
        means = [mean for mean, _, count in blocks for _ in range(count)]
        for item, mean, offset in zip(row, means, before, strict=False):
            x[item] = mean + offset
