"""Values of the program's own in the program of a graph."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from dynamo_core.model import Graph, Node, TensorInfo
from dynamo_core.repro import graph_shrinking
from dynamo_core.repro.failure import Failure
from dynamo_core.repro.graph_program import GraphProgram, arguments_of, captured_program
from dynamo_core.repro.graph_shrinking import GraphShrinker
from dynamo_core.repro.saved_values import beside, with_values, written_out
from dynamo_core.repro.trials import Trials
from dynamo_core.shared.errors import NothingSelected
from support.fake_trials import FakeTrials

WRONG = Failure("wrong result", "AssertionError", "Tensor-likes are not close")
CODE = """
class GraphModule(torch.nn.Module):
    def forward(self, L_x_: "f32[3, 4][4, 1]cpu"):
        l_x_ = L_x_
        y: "f32[3, 4][4, 1]cpu" = l_x_ + 1;  l_x_ = None
        parts = torch.split(y, 2)
        first: "f32[2, 4][4, 1]cpu" = parts[0]
        second: "f32[1, 4][4, 1]cpu" = parts[1];  parts = None
        total: "f32[2, 4][4, 1]cpu" = torch.sin(first)
        return (total, second)
"""
ROWS = torch.arange(12.0).reshape(3, 4)


def recorded() -> Graph:
    def value(name: str, rows: int) -> Node:
        return Node("call_function", name, "", "()", "{}", (), (tensor(rows),))

    def tensor(rows: int) -> TensorInfo:
        return TensorInfo((rows, 4), (4, 1), "float32", "cpu")

    given = Node("placeholder", "l_x_", "L_x_", "()", "{}", (), (tensor(3),))
    made = (value("y", 3), value("first", 2), value("second", 1), value("total", 2))
    return Graph(1, None, 0, None, "inductor", 5, (given, *made), CODE)


class Executing(Trials):
    """Trials that run here, in place of processes."""

    def outcome(self, text: str, *, plain: bool = False, attempt: int = 0) -> dict[str, Any]:
        """Run a program of the tests."""
        exec(compile(text, "repro.py", "exec"), {"__name__": "__main__"})
        return {"ending": "passed", "output": "", "seconds": 0.0}


@pytest.fixture
def trials() -> Executing:
    return Executing("python", (), 1.0, 0.0)


@pytest.fixture
def program(tmp_path: Path, trials: Executing) -> GraphProgram:
    graph = recorded()
    inputs = tmp_path / "1-1-1.pt"
    torch.save([ROWS], inputs)
    return with_values(captured_program(graph, ()), arguments_of(graph), inputs, tmp_path, trials)


def run(text: str, file: str = "repro.py") -> Any:
    names: dict[str, Any] = {"__file__": file}
    exec(text.partition("expected =")[0], names)
    return names["run"](names["f"])


def test_inputs_have_the_values_of_the_call(program: GraphProgram) -> None:
    total, second = run(replace(program, gradients=False, afterwards=False).text())
    assert torch.equal(second, ROWS[2:] + 1)
    assert torch.equal(total, torch.sin(ROWS[:2] + 1))


def test_what_the_graph_makes_of_them_may_become_an_input(program: GraphProgram) -> None:
    part = program.only([each for each in program.statements if "sin" in each.text])
    assert part is not None
    (given,) = part.inputs
    assert given.saved == "saved['first']"
    assert torch.equal(run(replace(part, gradients=False, afterwards=False).text()), torch.sin(ROWS[:2] + 1))


def test_a_graph_that_fails_with_random_numbers_as_well_has_none(program: GraphProgram) -> None:
    shrinker = GraphShrinker(program, WRONG, FakeTrials(lambda text: "sin" in text), lambda smaller: None)  # type: ignore[arg-type]
    shrinker.shrink()
    assert "saved" not in shrinker.program.text()


def test_a_smaller_size_takes_a_part_of_the_value(program: GraphProgram) -> None:
    smaller = graph_shrinking._resized(program, 4, 2)
    assert smaller.inputs[0].saved == "saved['l_x_'][:3, :2].contiguous()"
    smaller = graph_shrinking._resized(smaller, 3, 1)
    assert smaller.inputs[0].saved == "saved['l_x_'][:1, :2].contiguous()"
    assert "y" not in smaller.saved  # its sizes were changed


def test_few_values_stand_in_the_text(program: GraphProgram, trials: Executing, tmp_path: Path) -> None:
    written, is_left = written_out(program, tmp_path / "left.pt", trials)
    assert not is_left
    assert f"torch.tensor({ROWS.tolist()})" in written.text()
    assert "torch.load" not in written.text()


def test_infinite_values_are_written(program: GraphProgram, trials: Executing, tmp_path: Path) -> None:
    infinite = torch.tensor([float("inf"), float("nan"), -float("inf")])
    torch.save({"l_x_": infinite}, tmp_path / "values.pt")
    given = replace(program, load=f"torch.load({str(tmp_path / 'values.pt')!r})")
    written, _ = written_out(given, tmp_path / "left.pt", trials)
    assert 'torch.tensor([float("inf"), float("nan"), -float("inf")])' in written.text().replace("'", '"')


def test_many_values_go_to_a_file_beside_it(tmp_path: Path, trials: Executing, program: GraphProgram) -> None:
    many = torch.randn(60)
    torch.save({"l_x_": many}, tmp_path / "values.pt")
    given = replace(program, load=f"torch.load({str(tmp_path / 'values.pt')!r})")
    written, is_left = written_out(given, tmp_path / "repro.py.pt", trials)
    assert is_left
    assert torch.equal(torch.load(tmp_path / "repro.py.pt")["l_x_"], many)
    assert 'torch.load(__file__ + ".pt")' in written.text()
    assert "torch.load('/x/left.pt')" in beside(written.text(), "/x/left.pt")


def test_arguments_that_are_no_plain_tensors_are_no_values(tmp_path: Path, trials: Executing) -> None:
    graph = recorded()
    torch.save([None], tmp_path / "1-1-1.pt")
    with pytest.raises(NothingSelected, match="no value of the call"):
        with_values(captured_program(graph, ()), arguments_of(graph), tmp_path / "1-1-1.pt", tmp_path, trials)
    assert json.loads((tmp_path / "values-1-1-1.pt.json").read_text()) == {}
