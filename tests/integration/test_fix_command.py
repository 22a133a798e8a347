"""`dynamo fix` on a real program: what it proves, what it does not, and that it harms nothing."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from support.answering import Result
from support.schemas import validate

Runner = Callable[..., Result]
PROGRAM = """
import torch
from layer import shifted


@torch.compile(backend="eager")
def scaled(x):
    y = x.sin()
    if y.sum() > 0:  # on a value
        y = y * 2
    return y.cos()


@torch.compile(backend="eager")
def weighted(x):
    return x * x.sum().item()


@torch.compile(backend="eager")
def counted(x):
    print("positive:", x.sum() > 0)
    return x + 1


@torch.compile(backend="eager")
def noted(x):
    y = x.sin()
    print("of", type(x))
    return y.cos_()  # in place, so that the print stays before it


for seed in range(4):
    torch.manual_seed(seed)
    x = torch.randn(8)
    noted(x)
    print(scaled(x).tolist(), weighted(x).tolist(), shifted(x).tolist())
"""
LAYER = """
import torch


@torch.compile(backend="eager")
def shifted(x):
    return x + 1 if x.sum() > 0 else x - 1
"""


@pytest.fixture
def run(forked: Runner) -> Runner:
    """Nothing here is about how a process starts."""
    return forked


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    (folder / "layer.py").write_text(LAYER)
    program = folder / "program.py"
    program.write_text(PROGRAM)
    return program


def test_remedies_are_proven_by_the_program_and_its_files_stay(
    run: Runner, program: Path, tmp_path: Path
) -> None:
    fixed = run("fix", "--yes", "--format", "json", "--patch", "fix.patch", "--recordings", "runs", program)
    assert fixed.exit_code == 0, fixed.stderr
    document = json.loads(fixed.stdout)
    validate(document)
    unproven = [fix["finding"]["function"] for fix in document["fixes"] if not fix["is_proven"]]
    assert unproven == ["noted"], [fix["trials"] for fix in document["fixes"]]
    assert (document["together"]["verdict"], document["together"]["after"]) == ("helps", 1)
    places = {
        (Path(fix["finding"]["place"]["file"]).name, fix["finding"]["source"]) for fix in document["fixes"]
    }
    assert ("layer.py", "return x + 1 if x.sum() > 0 else x - 1") in places
    assert ("program.py", "if y.sum() > 0:  # on a value") in places
    (noted,) = (fix for fix in document["fixes"] if fix["finding"]["function"] == "noted")
    divided = next(trial for trial in noted["trials"] if trial["patch"])
    assert "+    return noted_2(y)\n" in divided["patch"]
    assert "as many graphs, and no step is faster" in divided["reason"]  # it has too few steps to tell
    assert program.read_text() == PROGRAM
    assert len(list((tmp_path / "runs").glob("run-*/recording/dynamo_run.json"))) == document["runs"]

    copy = tmp_path / "copy"
    shutil.copytree(program.parent, copy, ignore=shutil.ignore_patterns(".dynamo", "__pycache__"))
    patch = (tmp_path / "fix.patch").read_text()
    # The patch names the files from the working directory, which here is not above them.
    names = [line.split("/")[-1] for line in patch.splitlines() if line.startswith("+++ ")]
    assert sorted(names) == ["layer.py", "program.py"]
    flat = "".join(
        f"{line[:4]}{line[4:].split('/')[-1]}" if line.startswith(("--- ", "+++ ")) else line
        for line in patch.splitlines(keepends=True)
    )
    assert subprocess.run(["patch", "-p0"], input=flat, text=True, cwd=copy, check=False).returncode == 0
    explained = json.loads(run("explain", "--format", "json", copy / "program.py").stdout)
    assert (explained["summary"]["graph_breaks"], explained["summary"]["recompiles"]) == (1, 0)


def test_a_program_is_not_run_again_unasked(run: Runner, program: Path) -> None:
    result = run("fix", program)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "there is no terminal to ask on: add --yes" in result.stderr


def test_a_recording_of_somebody_else_is_never_run(run: Runner, program: Path, tmp_path: Path) -> None:
    assert run("run", "-q", "-o", "ours", "--capture", "none", "-c", "print('ran')").exit_code == 0
    shutil.copytree(tmp_path / "ours", tmp_path / "theirs")
    result = run("fix", "--yes", "theirs")
    assert (result.exit_code, result.stdout) == (114, "")
    assert "it was not made here" in result.stderr
    secret = run("run", "-q", "-o", "secret", "--capture", "none", "-c", "1", "--api-token", "hunter2")
    assert secret.exit_code == 0
    assert "hunter2" not in (tmp_path / "secret" / "dynamo_run.json").read_text()
    assert "looks like a secret" in run("fix", "--yes", "secret").stderr


def test_the_program_of_a_recording_is_run_as_it_was(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(
        "import sys, torch\n"
        "f = torch.compile(lambda x: x * 2, backend='eager')\n"
        "print(sys.argv[1:], f(torch.ones(2)).tolist())\n"
    )
    assert run("run", "-q", "-o", "r", "p.py", "--epochs", "3").exit_code == 0
    fixed = run("fix", "--yes", "r")
    assert fixed.exit_code == 0, fixed.stderr
    assert "Nothing to fix" in fixed.stdout
    assert fixed.stderr.count("the program as it is") == 2
