"""Broken programs for coding agents: the grader takes their cures, and nothing else."""

import importlib
import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.cases import nightly, one_in
from support.torch_version import TORCH

AGENTS = Path(__file__).resolve().parents[2] / "benchmarks" / "agents"
COMPILED_IN_2_15 = ("bandit_player", "click_model")
NAMES = sorted(file.parent.name for file in AGENTS.glob("tasks/*/task.toml"))

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="the tasks are TOML")


@pytest.mark.parametrize("name", one_in(len(NAMES), NAMES))
def test_the_grader_tells_a_cure_from_what_is_none(name: str) -> None:
    if name in COMPILED_IN_2_15 and TORCH >= (2, 15):
        pytest.skip("torch 2.15 compiles it as it is delivered")
    command = [sys.executable, AGENTS / "grade.py", "--prove", name]
    proved = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert (proved.returncode, proved.stdout) == (0, "1 tasks, 0 wrong answers of the grader\n"), (
        proved.stderr
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_cure_applies_and_takes_nothing_away(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(AGENTS)
    grade = importlib.import_module("grade")
    program = grade.task(name).program
    cured = shutil.copytree(program, tmp_path / "program")
    grade._reference(cured, grade.task(name))
    assert list(grade._taken_away(program, cured)) == []


@nightly
def test_an_agent_that_applies_the_cure_is_graded_as_cured(tmp_path: Path) -> None:
    agent = shutil.which("patch")
    assert agent is not None
    patch = AGENTS / "tasks" / "sensor_scoring" / "cure.patch"
    results = tmp_path / "results.jsonl"
    words = ["--agent", shlex.join([agent, "-p1", "-i", str(patch)]), "--tool", "with", "--results", results]
    command = [sys.executable, AGENTS / "drive.py", *words, "sensor_scoring"]
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    (row,) = map(json.loads, results.read_text().splitlines())
    assert (row["has_tool"], row["cured"], row["problems"], row["tokens"]) == (True, True, [], None)
