"""`dynamo bench --suite` on two small programs, one of which crashes; killed, and gone on with."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dynamo_core.bench.suite.file import read_suite
from launching import Runner
from recordings import SAMPLES
from support.schemas import validate

STEPS = """\
import time, torch
def step(x):
    return x.sin() + 1
x = torch.ones(8)
for _ in range(12):
    x = step(x)
print(f"{x.sum().item():.4f}")
"""
CRASH = """\
import sys, torch
print("x" * 8_000_000)
sys.stderr.write("y" * 6_000_000)
raise RuntimeError("the data are not there")
"""
SUITE = """\
backends = ["eager"]
repeat = 1
time-limit = 120
[programs.steps]
run = "steps.py"
[programs.crash]
run = "crash.py"
[programs.absent]
run = "steps.py"
needs = ["no_module_has_this_name"]
"""
COMMAND = ("bench", "--suite", "suite.toml", "--results", "kept", "--format", "json")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("steps.py", STEPS), ("crash.py", CRASH), ("suite.toml", SUITE)):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_suite_killed_and_gone_on_with(folder: Path, environment: dict[str, str], run: Runner) -> None:
    first = subprocess.Popen(
        [sys.executable, "-m", "dynamo_cli", *COMMAND],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 120
    while not (folder / "kept" / "rows" / "steps.json").exists():
        assert first.poll() is None and time.monotonic() < until
        time.sleep(0.02)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    kept = (folder / "kept" / "rows" / "steps.json").read_text()

    result = run(*COMMAND)
    assert result.exit_code == 0, result.stderr
    assert "steps: " not in result.stderr and "crash: failed" in result.stderr
    assert (folder / "kept" / "rows" / "steps.json").read_text() == kept
    document = json.loads(result.stdout)
    validate(document)
    assert (document["kept"], document["is_interrupted"]) == (1, False)
    steps, crash, absent = document["programs"]
    assert [row["outcome"] for row in steps["rows"]] == ["passed"]
    assert steps["rows"][0]["median_seconds"] > 0
    assert absent["skipped"] == "no_module_has_this_name is not installed" and absent["rows"] == []
    [failed] = crash["rows"]
    assert failed["outcome"] == "failed" and "RuntimeError: the data are not there" in failed["problem"]

    log = folder / "kept" / failed["log"]
    assert log.read_bytes().endswith(b"RuntimeError: the data are not there\n")
    written = [log, *log.parent.glob("*.stdout")]
    assert all(file.stat().st_size < 5_000_000 for file in written)
    assert b"bytes are left out here" in log.read_bytes()
    rows = list(csv.DictReader((folder / "kept" / "speedups.csv").read_text().splitlines()))
    assert [row["outcome"] for row in rows] == ["passed", "failed", "not run"]

    # All is kept now: what is newly failing is found without running anything.
    older = json.loads(result.stdout)
    older["programs"][1]["rows"][0] |= {"outcome": "passed", "problem": None}
    (folder / "older.json").write_text(json.dumps(older))
    compared = run(*COMMAND, "--compare", "older.json")
    assert compared.exit_code == 112
    assert compared.stderr == "dynamo: crash under eager is newly failing since older.json\n"


def test_the_suite_that_comes_with_us_can_be_read() -> None:
    suite = read_suite(SAMPLES / "suite")
    assert suite.name == "suite" and len(suite.programs) >= 12
    assert {program.choices.backends for program in suite.programs} == {("eager", "inductor")}
    scripts = {Path(program.program.arguments[0]).name for program in suite.programs}
    assert scripts == {file.name for file in (SAMPLES / "suite").glob("[a-z]*.py")}


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (["--suite", "none.toml"], 107, "there is no suite at none.toml"),
        (["--suite", "suite.toml", "steps.py"], 2, "--suite names the programs"),
        (["--suite", "suite.toml", "--per-graph"], 2, "--per-graph is for one program"),
        (["--suite", "suite.toml", "--backends", "inductor:max"], 124, "has no mode 'max'"),
        (["--suite", "suite.toml", "--results", "."], 120, "holds something else than a suite's results"),
        (["--suite", "suite.toml", "--compare", "steps.py"], 107, "steps.py is no JSON"),
        (["--again", "steps.py"], 2, "--again goes with --suite"),
    ],
)
def test_bad_input(folder: Path, read: Runner, arguments: list[str], code: int, line: str) -> None:
    result = read("bench", *arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert line in result.stderr and result.stderr.count("\n") == 1
