"""`dynamo repro` makes a file that fails alone of each program in repro_programs/.

The docstring of a program says what the file is made of, and of which kind the failure is:

    origin: graph
    kind: wrong result

One program of each origin and kind is run; `ALL_CASES=1` runs all.
"""

import ast
import json
from pathlib import Path

import pytest

from cases import one_of_each
from conftest import Runner
from launching import ForkingPython

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "repro_programs"
NAMES = sorted(file.stem for file in PROGRAMS.glob("*.py") if file.stem != "backend_beside")
MOST_LINES = 30


def described(name: str) -> tuple[str, str]:
    """What a program's docstring says: its origin and its kind."""
    tree = ast.parse((PROGRAMS / f"{name}.py").read_text(encoding="utf-8"))
    lines = (ast.get_docstring(tree) or "").splitlines()
    described = dict(line.partition(": ")[::2] for line in lines if ": " in line)
    return described["origin"], described["kind"]


@pytest.mark.parametrize("name", one_of_each(NAMES, described))
def test_file_fails_alone(name: str, forked: Runner, python: ForkingPython, tmp_path: Path) -> None:
    origin, kind = described(name)
    result = forked("repro", "-y", "--budget", "150s", "--json", PROGRAMS / f"{name}.py")
    assert result.exit_code == 0, result.stdout + result.stderr
    found = json.loads(result.stdout)
    assert (found["origin"], found["is_proven"]) == (origin, True)
    assert found["failure"]["kind"] == kind
    assert found["lines"] <= MOST_LINES
    file = tmp_path / "repro.py"
    alone = tmp_path / "alone"
    alone.mkdir()
    assert python.run(file, cwd=alone).exit_code != 0
    assert python.run(file, cwd=alone, more={"TORCHDYNAMO_DISABLE": "1"}).exit_code == 0
    issue = (tmp_path / "issue.md").read_text()
    assert file.read_text().rstrip() in issue
    assert str(PROGRAMS) not in file.read_text() + issue


def test_planted_operation_is_left(forked: Runner, tmp_path: Path) -> None:
    result = forked("repro", "-y", "--json", PROGRAMS / "model_of_300_operations.py")
    assert result.exit_code == 0, result.stdout + result.stderr
    found = json.loads(result.stdout)
    assert int(found["first_size"].split()[0]) >= 300
    assert int(found["size"].split()[0]) <= 2
    assert "softplus(" in (tmp_path / "repro.py").read_text().partition("def f(")[2]


def test_program_that_does_not_fail(forked: Runner, tmp_path: Path) -> None:
    program = tmp_path / "right.py"
    program.write_text('import torch\nprint(torch.compile(torch.sin, backend="eager")(torch.ones(2)))\n')
    result = forked("repro", "-y", program)
    assert result.exit_code == 105
    assert result.stderr.splitlines()[-1].startswith("dynamo: nothing to reproduce: ")
    assert not (tmp_path / "repro.py").exists()


def test_search_that_was_ended_goes_on(forked: Runner) -> None:
    program = PROGRAMS / "backend_replaces_sine.py"
    first = json.loads(forked("repro", "-y", "--json", program).stdout)
    again = json.loads(forked("repro", "-y", "--json", program).stdout)
    assert again["text"] == first["text"]
    assert not any(trial["is_earlier"] for trial in first["trials"])
    assert all(trial["is_earlier"] for trial in again["trials"])


def test_graph_break_that_should_not_be(forked: Runner, tmp_path: Path) -> None:
    program = tmp_path / "breaks.py"
    program.write_text(
        "import torch\n\n\ndef main():\n    names = []\n\n"
        '    @torch.compile(backend="eager")\n    def step(rows):\n        rows = rows + 1\n'
        "        print(rows.shape)\n        return rows * 2\n\n"
        "    names.append(step(torch.ones(3)))\n\n\nmain()\n"
    )
    result = forked("repro", "-y", "--json", "--of", "break:1", program)
    assert result.exit_code == 0, result.stdout + result.stderr
    found = json.loads(result.stdout)
    assert found["failure"]["type"] == "Unsupported"
    assert "fullgraph=True" in found["text"]


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
    assert "error_on_recompile" in found["text"]


def test_no_uv(forked: Runner, tmp_path: Path) -> None:
    program = PROGRAMS / "backend_replaces_sine.py"
    result = forked("repro", "-y", "--json", "--torch", "2.9", program)
    assert result.exit_code == 0, result.stdout + result.stderr
    assert json.loads(result.stdout)["problem"] is not None
