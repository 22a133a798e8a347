"""`dynamo check` on a real program, as a project would use it: accept, move lines, break it."""

import json
from collections.abc import Callable
from pathlib import Path

from support.answering import Result

Runner = Callable[..., Result]
MODEL = """
import torch

@torch.compile(backend="eager")
def forward(x):
    return (x * 2).relu()

def test_forward():
    assert forward(torch.ones(3)).sum() == 6

if __name__ == "__main__":
    test_forward()
    print("ran")
"""


def test_a_graph_break_that_slips_in_is_named_at_its_line(forked: Runner, tmp_path: Path) -> None:
    program = tmp_path / "test_model.py"
    program.write_text(MODEL)
    accepted = forked("check", "--update", "test_model.py")
    assert accepted.exit_code == 0, accepted.stderr
    assert "ran" in accepted.stderr
    lock = (tmp_path / "dynamo.lock").read_text()
    assert '["test_model.py"]\ngraphs = 1\ngraph-breaks = 0\n' in lock
    assert forked("check", "--update", "-m", "pytest", "-q", "test_model.py").exit_code == 0
    both = (tmp_path / "dynamo.lock").read_text()
    assert '["-m pytest -q test_model.py"]' in both
    assert '["test_model.py"]\ngraphs = 1\n' in both

    program.write_text("# moved\n\n" + MODEL.replace("return (x * 2)", "y = x\n    return (y * 2)"))
    assert forked("check", "test_model.py").exit_code == 0

    program.write_text(MODEL.replace("    return (x", "    print('shape', x.shape)\n    return (x"))
    worse = forked("check", "--format", "github", "test_model.py")
    assert worse.exit_code == 112, worse.stderr
    assert "file=test_model.py,line=6::new: graph break in test_model.py forward: print(" in worse.stdout
    worse = forked("check", "-m", "pytest", "-q", "test_model.py")
    assert worse.exit_code == 112
    assert "\n    in test_model.py::test_forward\n" in worse.stdout

    program.write_text(MODEL.replace("== 6", "== 7"))
    failed = forked("check", "test_model.py")
    assert failed.exit_code == 1  # the program's own
    assert forked("check", "--update", "test_model.py").exit_code == 109


def test_a_wrong_result_fails_although_it_is_locked(forked: Runner, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import torch\n"
        "def wrong(graph, inputs):\n"
        "    return lambda *values: tuple(value + 1 for value in graph(*values))\n"
        "@torch.compile(backend=wrong)\n"
        "def step(x):\n"
        "    return x * 2\n"
        "step(torch.ones(3))\n"
    )
    assert forked("check", "--update", "program.py").exit_code == 0
    wrong = forked("check", "--verify=error", "--format", "sarif", "program.py")
    assert wrong.exit_code == 117, wrong.stderr
    assert "1 call gave something else than plain Python" in wrong.stderr
    (result,) = json.loads(wrong.stdout)["runs"][0]["results"]
    assert "wrong result" in result["message"]["text"]
    # The backend gets any graph wrong, so that it is at the function, and not at its operation.
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 4
    assert forked("check", "--update", "--verify=error", "program.py").exit_code == 117
