"""`dynamo repro` makes a file that fails alone of each program of its corpus.

That is repro_programs/, where the docstring of a program says what the file is made of, of which kind the
failure is, and what an operation is called that its backend gets wrong:

    origin: graph
    kind: wrong result
    planted: softplus

and with `values`, how many inputs need values that the program has; and some of verified_programs/wrong/.
Three of them are run; `ALL_CASES=1` runs all.
"""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from launching import ForkingPython, Runner
from support.cases import ALL_CASES, nightly
from support.torch_version import TORCH

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "repro_programs"
VERIFIED = HERE / "verified_programs" / "wrong"
_WRONG_GRAPH, _WRONG_SOURCE = ("graph", "wrong result"), ("source", "wrong result")
OF_VERIFIED = {
    "backward_of_its_own_under_grad": _WRONG_SOURCE,
    "cast_out_of_range": _WRONG_GRAPH,
    "fill_of_an_expanded_row": _WRONG_GRAPH,
    "inputs_that_overlap_later": _WRONG_SOURCE,
    "interpolated_bytes": _WRONG_GRAPH,
    "logarithm_of_complex_sums": ("graph", "exception"),
    "metaclass_instancecheck": _WRONG_SOURCE,
    "negative_index_added": _WRONG_GRAPH,
    "negative_zero": _WRONG_SOURCE,
    "rounded_down_quotient": _WRONG_GRAPH,
    "second_derivative": _WRONG_SOURCE,
    "strides_after_a_mutation": _WRONG_GRAPH,
    "strides_of_stacked": _WRONG_GRAPH,
}
# One made of a graph, one of a script, one whose failure is another kind: what the others take is minutes.
OTHERWISE_IN_2_15 = {
    "conjugate_written": "compiles its graph alone rightly: the file is made of the script",
    "derivative_of_a_derivative": "calculates it rightly",
    "operator_of_another_type": "raises an exception for it",
}
QUICK = ("backend_raises", "exception_of_dynamo", "strides_of_stacked")
# Those that are not for `test_file_fails_alone`: a part of another, and one that fails one time in three.
_OTHERS = ("backend_beside", "backend_fails_sometimes")
OWN = sorted(file for file in PROGRAMS.glob("*.py") if file.stem not in _OTHERS)
FILES = [*OWN, *(VERIFIED / f"{name}.py" for name in OF_VERIFIED)]
MODELS = [file for file in OWN if file.stem.startswith("model_")]
MOST_LINES = 30


def docstring(file: Path) -> dict[str, str]:
    """What a program's docstring says of it."""
    lines = (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").splitlines()
    return dict(line.partition(": ")[::2] for line in lines if ": " in line)


def described(file: Path) -> tuple[str, str]:
    """Of what the file for a program is made, and the kind of its failure."""
    of_own = docstring(file)
    return OF_VERIFIED.get(file.stem) or (of_own["origin"], of_own["kind"])


@pytest.mark.parametrize(
    "program", [file for file in FILES if ALL_CASES or file.stem in QUICK], ids=lambda file: file.stem
)
def test_file_fails_alone(program: Path, forked: Runner, python: ForkingPython, tmp_path: Path) -> None:
    if program.stem in OTHERWISE_IN_2_15 and TORCH >= (2, 15):
        pytest.skip(f"torch 2.15 {OTHERWISE_IN_2_15[program.stem]}")
    origin, kind = described(program)
    values = ["--values"] if "values" in docstring(program) else []
    # A program that hangs is waited for: half of the budget, then the limit of each trial.
    budget = "100s" if kind == "hang" else "240s"
    result = forked("repro", "-y", *values, "--budget", budget, "--json", program)
    assert result.exit_code == 0, result.stdout + result.stderr
    found = json.loads(result.stdout)
    assert (found["origin"], found["is_proven"]) == (origin, True)
    assert found["failure"]["kind"] == kind
    assert found["lines"] <= MOST_LINES
    assert found["values"] == int(docstring(program).get("values", 0))
    own_pass = docstring(program).get("pass")
    assert [each["name"] for each in found["own_passes"]] == ([own_pass] if own_pass else [])
    file = tmp_path / "repro.py"
    issue = (tmp_path / "issue.md").read_text()
    assert ("not for PyTorch" in issue) is (own_pass is not None)
    assert file.read_text().rstrip() in issue
    assert str(program.parent) not in file.read_text() + issue
    alone = tmp_path / "alone"
    alone.mkdir()
    assert python.run(file, cwd=alone, more={"TORCHDYNAMO_DISABLE": "1"}).exit_code == 0
    if kind != "hang":
        assert python.run(file, cwd=alone).exit_code != 0


@nightly
@pytest.mark.parametrize("program", MODELS, ids=lambda file: file.stem)
def test_planted_operation_is_left(program: Path, environment: dict[str, str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dynamo_cli", "repro", "-y", "--budget", "20m", "--json", program]
    result = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=1500
    )
    assert result.returncode == 0, result.stdout + result.stderr
    found = json.loads(result.stdout)
    assert int(found["first_size"].split()[0]) >= 300
    assert int(found["size"].split()[0]) <= 2
    function = (tmp_path / "repro.py").read_text().partition("def f(")[2].partition("def run(")[0]
    assert docstring(program)["planted"] in function


@nightly
def test_failure_that_comes_one_time_in_three(forked: Runner, tmp_path: Path) -> None:
    result = forked("repro", "-y", "--budget", "150s", "--json", PROGRAMS / "backend_fails_sometimes.py")
    assert result.exit_code == 105, result.stdout + result.stderr
    found = json.loads(result.stdout)
    if "failure" in found:  # in one run of 30 no trial fails
        assert not found["is_proven"]
        assert "the device is busy" in (tmp_path / "repro.py").read_text()


def test_program_that_does_not_fail(forked: Runner, tmp_path: Path) -> None:
    program = tmp_path / "right.py"
    program.write_text('import torch\nprint(torch.compile(torch.sin, backend="eager")(torch.ones(2)))\n')
    result = forked("repro", "-y", program)
    assert result.exit_code == 105
    assert result.stderr.splitlines()[-1].startswith("dynamo: nothing to reproduce: ")
    assert not (tmp_path / "repro.py").exists()


def test_search_that_was_ended_goes_on(forked: Runner) -> None:
    program = PROGRAMS / "backend_replaces_sine.py"
    without_uv = {"PATH": "/usr/bin:/bin"}
    first = json.loads(forked("repro", "-y", "--json", "--torch", "2.9", program, env=without_uv).stdout)
    assert first["problem"] is not None
    again = json.loads(forked("repro", "-y", "--json", program).stdout)
    assert again["text"] == first["text"]
    assert not any(trial["is_earlier"] for trial in first["trials"])
    assert all(trial["is_earlier"] for trial in again["trials"])


@pytest.mark.parametrize(
    ("line", "asserted"),
    [
        pytest.param("print(rows.shape)", "fullgraph=True", marks=nightly),
        pytest.param(
            "rows = rows * rows.sum().item()",
            # Before 2.11 it raises there as well: torch/_dynamo/variables/tensor.py, 2.8 and 2.9.
            'assert not torch._dynamo.utils.counters["graph_break"]'
            if TORCH >= (2, 11)
            else "fullgraph=True",
            marks=nightly,
        ),
    ],
)
def test_graph_break_that_should_not_be(line: str, asserted: str, forked: Runner, tmp_path: Path) -> None:
    """One that fullgraph=True raises, and one that it takes into the graph."""
    program = tmp_path / "breaks.py"
    program.write_text(
        "import torch\n\n\ndef main():\n    names = []\n\n"
        '    @torch.compile(backend="eager")\n    def step(rows):\n        rows = rows + 1\n'
        f"        {line}\n        return rows * 2\n\n"
        "    names.append(step(torch.ones(3)))\n\n\nmain()\n"
    )
    result = forked("repro", "-y", "--json", "--of", "break:1", program)
    assert result.exit_code == 0, result.stdout + result.stderr
    found = json.loads(result.stdout)
    assert found["is_proven"]
    assert asserted in found["text"]


def test_graph_break_of_what_dynamo_run_captured(forked: Runner, tmp_path: Path) -> None:
    program = tmp_path / "breaks.py"
    program.write_text(
        "import torch\n\n\ndef step(rows):\n    if rows.sum() > 0:\n        rows = rows + 1\n"
        "    return rows * 2\n\n\nfor _ in range(3):\n    step(torch.ones(3))\n"
    )
    assert forked("run", "-q", "--backend", "eager", "-o", "recording", program).exit_code == 0
    result = forked("repro", "-y", "--json", "--of", "break:1", "recording")
    assert result.exit_code == 0, result.stdout + result.stderr
    found = json.loads(result.stdout)
    assert found["is_proven"]
    assert "fullgraph=True" in found["text"] and "def step" not in found["text"]
    assert "Data-dependent branching\n" in (tmp_path / "issue.md").read_text()


@nightly
def test_recompile_that_should_not_be(forked: Runner, tmp_path: Path) -> None:
    program = tmp_path / "recompiles.py"
    program.write_text(
        'import torch\n\n\n@torch.compile(backend="eager", dynamic=False)\n'
        "def step(rows):\n    return rows + 1\n\n\n"
        "for size in (2, 3):\n    step(torch.ones(size))\n"
    )
    result = forked("repro", "-y", "--json", "--of", "recompile:1", program)
    assert result.exit_code == 0, result.stdout + result.stderr
    found = json.loads(result.stdout)
    assert found["is_proven"]
    assert "error_on_recompile" in found["text"]
