"""What the page tells below a line of source, and its links to compiles and graphs: how many of each."""

from dataclasses import replace
from pathlib import Path

import pytest

from dynamo_core.model import (
    Bytecode,
    CompileId,
    Frame,
    Graph,
    Guard,
    Node,
    Place,
    Process,
    ProcessInfo,
    TensorInfo,
)
from dynamo_reporters.html.element import h, is_safe_link, to_html
from dynamo_reporters.html.links import Links
from dynamo_reporters.html.source_lines import InGraph, Kept, Line
from dynamo_reporters.html.source_view import details
from support.bytecode_by_hand import code

AT = Place("/home/me/train.py", 4)
GRAPHS = [Graph(number, CompileId(0, number), 0, None, "eager", 3, frame_name="f") for number in range(1, 61)]
PROCESS = Process(Path("s.log"), info=ProcessInfo(pid=1), graphs=GRAPHS)
LINKS = Links([PROCESS], {AT.file: {4}})


def text(line: Line, links: Links = LINKS) -> str:
    return to_html(h("div", *details(AT, line, links)))


def said(children: object) -> str:
    return to_html(h("p", children))  # type: ignore[arg-type]


@pytest.mark.parametrize(("count", "rest"), [(1, ""), (2, ""), (3, " and 1 more"), (60, " and 58 more")])
def test_of_many_compiles_and_graphs_the_first_are_named_and_the_rest_is_counted(
    count: int, rest: str
) -> None:
    compiles = said(LINKS.compiles([(PROCESS, graph.compile_id) for graph in GRAPHS[:count]], 2))
    graphs = said(LINKS.graphs([(PROCESS, graph.number) for graph in GRAPHS[:count]], 2))
    second = ', <a href="#/compile/0-2">[0/2]</a>' if count > 1 else ""
    assert compiles == f'<p><a href="#/compile/0-1">[0/1]</a>{second}{rest}</p>'
    second = ', <a href="#/graph/2">graph 2</a>' if count > 1 else ""
    assert graphs == f'<p><a href="#/graph/1">graph 1</a>{second}{rest}</p>'


def test_what_the_page_does_not_have_is_named_without_a_link() -> None:
    assert said(LINKS.graphs([(PROCESS, 99)], 2)) == "<p>graph 99</p>"
    assert said(LINKS.compiles([(PROCESS, CompileId(9, 9)), (PROCESS, None)], 2)) == "<p>[9/9], [-/-]</p>"


def test_links_lead_to_the_page_and_to_sites_that_are_known() -> None:
    assert is_safe_link("#/graph/1")
    assert is_safe_link("https://docs.pytorch.org/docs/stable/")
    assert not is_safe_link("https://docs.pytorch.org.example.com/")
    assert not is_safe_link("javascript:alert(1)")


def kept(number: int, *instructions: tuple[str, bool]) -> Kept:
    original = code("\n".join(f"4 {each}" for each, _ in instructions))
    made = Bytecode(CompileId(0, number), "f", "f", AT, "f0", {4: "x"}, original, ())
    return Kept(PROCESS, made, tuple((at, is_kept) for at, (_, is_kept) in enumerate(instructions)))


def test_the_bytecode_of_a_line_is_told_once_for_all_compiles_in_which_it_is_the_same() -> None:
    same = [kept(number, ("LOAD_FAST x", True), ("NOP", True), ("RETURN_VALUE", False)) for number in (1, 2)]
    shown = text(Line(bytecode=same))
    assert shown.count("<pre>") == 1
    rows = shown.partition("<code>")[2].partition("</code>")[0].splitlines()
    assert [" ".join(row.split()) for row in rows] == ["kept LOAD_FAST (x)", "removed RETURN_VALUE"]
    assert "[0/1]" in shown and "[0/2]" in shown
    assert "more" not in shown


@pytest.mark.parametrize(("count", "told", "rest"), [(4, 4, None), (5, 4, "1 more"), (9, 4, "5 more")])
def test_four_kinds_of_bytecode_are_shown_and_the_rest_is_counted(
    count: int, told: int, rest: str | None
) -> None:
    shown = text(
        Line(bytecode=[kept(number, (f"LOAD_FAST x{number}", True)) for number in range(1, count + 1)])
    )
    assert shown.count("<pre>") == told
    assert ("more" in shown) is (rest is not None)
    assert rest is None or rest in shown


def test_bytecode_that_says_nothing_has_no_heading() -> None:
    assert "Bytecode" not in text(Line(bytecode=[kept(1, ("NOP", True))]))
    assert text(Line()) == "<div></div>"


def op(name: str, place: Place | None = AT) -> Node:
    tensors = (TensorInfo((2,), None, "torch.float32", "cpu"),)
    return Node("call_function", name, "torch.sin", "(x,)", "{}", tensors=tensors, place=place)


def test_ops_are_told_once_for_the_graphs_in_which_they_are_the_same() -> None:
    ops = (op("sin"),)
    graphs = [InGraph(PROCESS, graph, ops) for graph in GRAPHS[:2]]
    shown = text(Line(graphs=[*graphs, InGraph(PROCESS, GRAPHS[2], (op("sin_1"),))]))
    assert shown.count("<table") == 2
    assert "graph 1</a>, <a" in shown
    assert "made at" not in shown
    assert "Ops" not in text(Line(graphs=[InGraph(PROCESS, GRAPHS[0], None)]))


def test_where_a_librarys_line_made_an_op_it_is_named() -> None:
    library = Place("/usr/lib/python3.12/site-packages/m.py", 9)
    shown = text(Line(graphs=[InGraph(PROCESS, GRAPHS[0], (op("sin"), op("cos", library), op("tan", None)))]))
    assert "made at" in shown
    assert shown.count(f"{library.file}:9") == 1
    assert f"{AT.file}:4" not in shown


def test_a_frame_that_was_given_up_says_what_became_of_it_and_why() -> None:
    failed = Frame("f", AT, "failed", "generator\nmore", False, False, CompileId(0, 1))
    shown = text(
        Line(failed_to_compile=[(PROCESS, failed), (PROCESS, replace(failed, name="g", outcome="raised"))])
    )
    assert "<strong>f</strong> runs eager: generator</p>" in shown
    assert "<strong>g</strong> raised an error while it was compiled: generator</p>" in shown


def guards(count: int, process: Process = PROCESS) -> list[tuple[Process, CompileId | None, Guard]]:
    made = Guard("TYPE_MATCH", "L['x']", "local", ("___check_type_id(L['x'], 1), type=<class 'int'>",), AT)
    return [(process, CompileId(0, number), made) for number in range(1, count + 1)]


@pytest.mark.parametrize(("count", "rest"), [(6, None), (7, " and 1 more"), (1006, " and 1,000 more")])
def test_a_guard_names_six_of_its_cache_entries(count: int, rest: str | None) -> None:
    shown = text(Line(guards=guards(count)))
    assert "[0/6]" in shown
    assert "[0/7]" not in shown
    assert (" more" in shown) is (rest is not None)
    assert rest is None or rest in shown


def test_kernels_are_told_with_their_graphs_and_those_beyond_forty_are_counted() -> None:
    kernels = [(PROCESS, graph, f"triton_{graph.number}") for graph in GRAPHS]
    few, many = text(Line(kernels=kernels[:40])), text(Line(kernels=kernels[:41]))
    assert "triton_40" in few and "more" not in few
    assert "triton_41" not in many and "1 more" in many


def test_a_process_is_named_where_there_are_several_and_then_ids_of_both_have_no_links() -> None:
    other = replace(PROCESS, stream=Path("t.log"), info=ProcessInfo(pid=2))
    several = Links([PROCESS, other], {AT.file: {4}})
    kernels = [(each, GRAPHS[0], "triton_1") for each in (PROCESS, other)]
    shown = text(Line(kernels=kernels), several)
    assert "graph 1 [0/1] of process 1" in shown
    assert "graph 1 [0/1] of process 2" in shown
    assert "<a" not in shown
    assert '<a href="#/compile/' in text(Line(kernels=kernels[:1]), several)
