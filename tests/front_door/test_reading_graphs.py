"""`dynamo graphs` on stored recordings: tables, code and dot, later stages, programs, training."""

import ast
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from support.answering import answer
from support.documents import document
from support.stored import plain, stored


def shown(*arguments: str | Path, cwd: Path | None = None) -> str:
    result = answer("graphs", *arguments, cwd=cwd)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def test_toy_as_tables() -> None:
    page = shown(stored("toy"))
    assert page.startswith("3 graphs, 8 ops\n")
    assert re.findall(r"(\d) inputs, (\d) ops?, (\d) output", page) == [
        *(("2", "5", "2"), ("2", "2", "1"), ("2", "1", "1"))
    ]
    assert re.search(r"toy_example\.py:7  x = a / \(torch\.abs\(a\) \+ 1\)\n +call_function +abs_1", page)
    assert re.search(r"call_function +add +operator\.add +\(abs_1, 1\) +f32\[10\] cpu", page)


def test_toy_as_code_and_as_dot() -> None:
    code = shown(stored("toy"), "--style", "code")
    classes = [node for node in ast.parse(code).body if isinstance(node, ast.ClassDef)]
    assert [each.name for each in classes] == ["GraphModule"] * 3
    dot = shown(stored("toy"), "--style", "dot", "--graph", "1")
    assert dot.count("digraph") == 1
    assert '"abs_1" -> "add";' in dot
    assert "nothing to draw" in shown(plain("recompiling"), "--style", "dot")


def test_toy_is_drawn_without_graphviz(tmp_path: Path) -> None:
    assert shown(stored("toy"), "-o", tmp_path / "toy.svg") == ""
    drawn = (tmp_path / "toy.svg").read_text(encoding="utf-8")
    assert drawn == shown(stored("toy"), "--style", "svg")
    root = ElementTree.fromstring(drawn)
    words = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert sum(" = " in (word or "") for word in words) == 8  # ops
    assert "abs_1 = torch.abs" in words and "(abs_1, 1)" in words
    shown(stored("toy"), "-o", tmp_path / "toy.dot")
    assert (tmp_path / "toy.dot").read_text(encoding="utf-8").count("digraph") == 3


def test_forward_and_backward_are_seen_together() -> None:
    page = shown(stored("training"), "--stage", "aot")
    heads = re.findall(r"^# (aot_\w+): graph 1 \[0/0\]", page, re.MULTILINE)
    assert heads == ["aot_joint_graph", "aot_forward_graph", "aot_backward_graph"]
    output_code = shown(stored("training"), "--stage", "output-code")
    assert re.findall(r"^# inductor_output_code, (\w+): graph 1", output_code, re.MULTILINE) == [
        "forward",
        "backward",
    ]
    ast.parse(output_code)


def test_a_stage_that_was_not_recorded_is_named() -> None:
    page = shown(stored("toy"), "--stage", "aot-backward", "--stage", "aot-inference")
    assert "aot_inference_graph: graph 1" in page
    assert "aot-backward is not recorded here; of the stages of a compile it has dynamo," in page


def test_what_a_forward_saves_for_its_backward() -> None:
    (graph,) = document("graphs", stored("training"), "--training")["graphs"]
    (pair,) = graph["training"]
    assert (pair["joint_ops"], pair["forward_ops"], pair["backward_ops"]) == (40, 8, 24)
    assert pair["saved_kinds"] == {"input": 3, "output": 0, "activation": 2}
    activations = [saved for saved in pair["saved"] if saved["kind"] == "activation"]
    assert [saved["operator"] for saved in activations] == ["aten.tanh", "aten.tanh"]
    assert [saved["bytes"] for saved in activations] == [8192, 8192]
    page = shown(stored("training"), "--training")
    assert "Saves 5 tensors for the backward, 20.4 kB: 3 inputs, 2 activations of 16.0 kB." in page
    assert "No graph has a backward" in shown(stored("toy"), "--training")


@pytest.mark.parametrize("which", [("1",), ("1", "--backward")], ids=" ".join)
def test_torchs_own_program_of_a_graph(which: tuple[str, ...], tmp_path: Path) -> None:
    assert shown(stored("training"), "--runnable", *which, "-o", tmp_path / "graph.py") == ""
    program = (tmp_path / "graph.py").read_text()
    ast.parse(program)
    assert ("tanh_backward" in program or "aten.mm" in program) == ("--backward" in which)
    assert "/home/user/project/train_loop.py" in program


def test_a_program_is_made_of_the_nodes_where_inductor_left_none() -> None:
    program = shown(stored("verified"), "--runnable", "1")
    ast.parse(program)
    assert "gelu" in program and "fx_graph_runnable" not in program


@pytest.mark.parametrize("recording", ["toy", "plain"])
def test_document_has_nodes_code_and_stages(recording: str) -> None:
    path = plain("recompiling") if recording == "plain" else stored(recording)
    told = document("graphs", path, "--stage", "all", "--stage", "ddp-split")
    assert {graph["nodes"] is None for graph in told["graphs"]} == {recording == "plain"}
    assert all(graph["code"].startswith("class GraphModule") for graph in told["graphs"])
    assert {stage["stage"] for stage in told["stages"]} >= {"dynamo", "aot-inference", "output-code"}
    assert told["stages_not_recorded"] == ["ddp-split"]
    document("graphs", path, "--runnable", "1")


def test_each_form_is_saved(tmp_path: Path) -> None:
    options = ("--save", "out", "--stage", "output-code", "--graph", "2")
    page = shown(stored("toy"), *options, cwd=tmp_path)
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == [
        "graph2_1-0_code.py",
        "graph2_1-0_graph.dot",
        "graph2_1-0_graph.svg",
        "graph2_1-0_inductor_output_code.py",
        "graph2_1-0_table.txt",
    ]
    assert page.startswith("5 files in out\n")
    assert "call_function  mul_1" in (tmp_path / "out" / "graph2_1-0_table.txt").read_text()


def test_a_frame_that_is_a_modules_method_has_its_name_on_every_page() -> None:
    run = stored("hugging_face_breaks")
    for report in ("graphs", "guards", "ops", "profile"):
        page = answer(report, run).stdout
        assert "Watched.forward (" in page, report
        assert " forward (/home" not in page, report
