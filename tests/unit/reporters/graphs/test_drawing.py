"""Graphs as drawings: what has a box, that nothing overlaps and every arrow leads down, and hostile names."""

import random
import re
import xml.etree.ElementTree as ElementTree
from itertools import combinations, pairwise

import pytest

from dynamo_core.analysis.graphs.drawing import Drawing, Layout, drawing_of, laid_out
from dynamo_core.model import Graph, Node, Place, TensorInfo
from dynamo_reporters.graphs.drawing import TitledDrawing, svg_text

WEIGHT = "L['self']._modules['{}']._parameters['weight']"
TENSOR = (TensorInfo((8, 24), (24, 1), "float32", "cpu"),)


def node(op: str, name: str, target: str, *inputs: str, source: str | None = None, line: int = 7) -> Node:
    args = f"({', '.join(inputs)},)"
    place = Place("/home/u/net.py", line)
    return Node(op, name, target, args, "{}", inputs, TENSOR, None, source, False, place)  # type: ignore[arg-type]


def network(layers: int) -> Graph:
    """An input, then layers of a linear with a weight and a relu, as Dynamo writes them."""
    nodes = [node("placeholder", "l_x_", "L_x_", source="L['x']")]
    nodes += [node("placeholder", f"w{i}", f"W{i}", source=WEIGHT.format(i)) for i in range(layers)]
    before = "l_x_"
    for i in range(layers):
        nodes.append(node("call_function", f"linear_{i}", "torch._C._nn.linear", before, f"w{i}", line=8))
        nodes.append(node("call_function", f"relu_{i}", "torch.relu", f"linear_{i}", line=9))
        before = f"relu_{i}"
    nodes.append(node("output", "output", "output", before))
    return Graph(1, None, 0, None, "eager", 2 * layers, tuple(nodes))


def overlaps(layout: Layout, sizes: list[tuple[float, float]]) -> int:
    return sum(
        abs(ax - bx) < (aw + bw) / 2 - 1e-6 and abs(ay - by) < (ah + bh) / 2 - 1e-6
        for ((ax, ay), (aw, ah)), ((bx, by), (bw, bh)) in combinations(
            zip(layout.centres, sizes, strict=True), 2
        )
    )


def test_parameters_are_named_in_the_ops_that_read_them() -> None:
    drawing = drawing_of(network(10))  # 20 ops, 10 parameters
    assert [box.kind for box in drawing.boxes].count("op") == 20
    assert len(drawing.boxes) == 22
    assert drawing.boxes[1].lines[:2] == ("linear_0 = torch._C._nn.linear", "(l_x_, self.0.weight,)")
    assert drawing.boxes[1].lines[2] == "f32[8, 24] cpu \u00b7 net.py:8"
    root = ElementTree.fromstring(svg_text([TitledDrawing("graph 1", drawing)]))
    assert float(root.attrib["width"]) < 500


def test_layers_that_repeat_are_drawn_once() -> None:
    drawing = drawing_of(network(40))
    assert [(box.name, box.times) for box in drawing.boxes] == [
        *(("l_x_", 1), ("linear_0", 40), ("relu_0", 40), ("output", 1))
    ]
    assert drawing.arrows == ((0, 1), (1, 2), (2, 3))
    assert drawing.boxes[1].lines[0].endswith(" \u00d7 40")


def test_what_is_too_large_is_not_drawn_and_says_so() -> None:
    nodes = [node("call_function", f"n{i}", f"op{i}") for i in range(2_001)]
    drawing = drawing_of(Graph(1, None, 0, None, "eager", 2_001, tuple(nodes)))
    assert drawing.too_large == "2,001 boxes are too many to draw"
    assert drawing_of(Graph(1, None, 0, None, "eager", 2_000, tuple(nodes[1:]))).too_large is None
    assert "Not drawn: 2,001 boxes" in svg_text([TitledDrawing("graph 1", drawing)])


def test_a_chain_is_a_straight_line() -> None:
    layout = laid_out([(100, 40), (200, 60), (50, 20)], [(0, 1), (1, 2)])
    assert len({round(x, 3) for x, _ in layout.centres}) == 1
    assert [y for _, y in layout.centres] == sorted(y for _, y in layout.centres)
    above, below = layout.centres[0][1] - 20, layout.height - (layout.centres[2][1] + 10)
    assert above == below > 0, "as much room on both sides"


def test_a_skipped_connection_goes_around_the_boxes_between() -> None:
    sizes = [(100.0, 40.0)] * 5
    layout = laid_out(sizes, [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)])
    route = layout.routes[4]
    assert route is not None and len(route) == 5
    for (x, y), (cx, cy) in ((point, centre) for point in route[1:-1] for centre in layout.centres):
        assert abs(y - cy) > 20 or abs(x - cx) > 50


@pytest.mark.parametrize("seed", range(20))
def test_nothing_overlaps_and_every_arrow_leads_down(seed: int) -> None:
    chance = random.Random(seed)
    count = chance.randrange(1, 60)
    sizes = [(chance.uniform(20, 300), chance.uniform(20, 80)) for _ in range(count)]
    arrows = [(chance.randrange(count), chance.randrange(count)) for _ in range(chance.randrange(90))]
    layout = laid_out(sizes, arrows)
    assert layout == laid_out(sizes, arrows)
    assert overlaps(layout, sizes) == 0
    for (x, y), (width, height) in zip(layout.centres, sizes, strict=True):
        assert x - width / 2 >= 0 and x + width / 2 <= layout.width
        assert y - height / 2 >= 0 and y + height / 2 <= layout.height
    for (start, end), route in zip(arrows, layout.routes, strict=True):
        assert (route is None) >= (start >= end)
        assert all(y < below for (_, y), (_, below) in pairwise(route or ()))


def test_a_box_holds_its_lines_and_its_arrows_end_at_its_edges() -> None:
    root = ElementTree.fromstring(svg_text([TitledDrawing("graph 1", drawing_of(network(1)))]))
    tops, bottoms = set[float](), set[float]()
    for group in root.iterfind(".//{*}g"):
        rect = group.find("{*}rect")
        if rect is None:
            continue
        left, top, width, height = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
        tops.add(top)
        bottoms.add(top + height)
        lines = group.findall("{*}text")
        heights = [float(line.attrib["y"]) for line in lines]
        assert top < heights[0] and heights[-1] < top + height
        assert all(14 <= below - above <= 20 for above, below in pairwise(heights))
        for line in lines:
            assert left < float(line.attrib["x"]) < left + width - 7 * len(line.text or "")
        assert [line.attrib["class"] for line in lines] == ["first", *["more"] * (len(lines) - 1)]
    arrows = [path.attrib["d"] for path in root.iterfind(".//{*}path") if "class" not in path.attrib]
    assert len(arrows) == 3
    for arrow in arrows:
        points = [float(number) for number in re.findall(r"-?[\d.]+", arrow)]
        assert points[1] in bottoms and points[-1] in tops


def test_drawings_stand_below_each_other() -> None:
    none = TitledDrawing("graph 2", None)
    drawn = svg_text([none, TitledDrawing("graph 1", drawing_of(network(1))), none])
    root = ElementTree.fromstring(drawn)
    moved = [group.attrib["transform"] for group in root if "transform" in group.attrib]
    tops = [float(each.removeprefix("translate(0 ").removesuffix(")")) for each in moved]
    assert tops[:2] == [0, 64] and tops[2] > 200
    assert float(root.attrib["height"]) == tops[2] + 64
    assert drawn.count("Its nodes were not recorded.") == 2
    assert root.attrib["viewBox"] == f"0 0 {root.attrib['width']} {root.attrib['height']}"


def test_no_boxes_at_all() -> None:
    assert laid_out([], []).centres == ()
    assert svg_text([TitledDrawing("graph 1", Drawing((), ()))]).startswith("<svg")


def test_an_arrow_that_is_too_long_to_follow_ends_in_a_stub() -> None:
    chain = [(i, i + 1) for i in range(40)]
    assert laid_out([(10.0, 10.0)] * 41, [*chain, (0, 40)]).routes[40] is None
    nodes = [node("placeholder", "x", "X", source="L['x']")]
    for i in range(39):
        nodes.append(node("call_function", f"n{i}", f"op{i}", nodes[-1].name))
    nodes.append(node("output", "output", "output", nodes[-1].name, "x"))
    drawn = svg_text([TitledDrawing("g", drawing_of(Graph(1, None, 0, None, "eager", 39, tuple(nodes))))])
    assert drawn.count('class="cut"') == 1
    root = ElementTree.fromstring(drawn)
    (stub,) = (path.attrib["d"] for path in root.iterfind(".//{*}path") if path.attrib.get("class") == "cut")
    x, above, end_x, end = map(float, re.findall(r"-?[\d.]+", stub))
    edges = {float(rect.attrib["y"]) for rect in root.iterfind(".//{*}g/{*}rect")}
    assert x == end_x and above < end and end in edges, "it comes from above to the upper edge of the box"


@pytest.mark.parametrize(
    "name", ["</title><script>alert(1)</script>", "a\x00b\x1b[31m", "\ud800", "]]>", "&quot;", "x" * 10**6]
)
def test_a_name_is_nothing_but_text(name: str) -> None:
    nodes = (
        node("placeholder", name, name, source=name),
        node("call_function", "op", name, name),
        node("output", "output", "output", "op"),
    )
    drawing = drawing_of(Graph(1, None, 0, None, "eager", 1, nodes))
    drawn = svg_text([TitledDrawing(name[:50], drawing)])
    assert len(drawn) < 20_000
    elements = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(drawn).iter()}
    assert elements == {"svg", "style", "rect", "g", "text", "title", "path"}
    attributes = {key for element in ElementTree.fromstring(drawn).iter() for key in element.attrib}
    assert attributes <= {"viewBox", "width", "height", "class", "x", "y", "rx", "d", "transform"}
    drawn.encode("utf-8")
