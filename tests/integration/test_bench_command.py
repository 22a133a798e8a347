"""`dynamo bench` on real programs."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from launching import ForkingPython, Runner
from recordings import PROGRAMS
from support.answering import Result
from support.schemas import validate

PROGRAM = PROGRAMS / "benched.py"
WRONG = f"{PROGRAMS / 'off_by_a_thousandth.py'}:backend"
ENDLESS = f"{PROGRAMS / 'off_by_a_thousandth.py'}:endless"
STEP = 0.005  # seconds, of the programs that sleep


def by_name(document: dict[str, Any]) -> dict[str, Any]:
    return {each["backend"]: each for each in document["backends"]}


@pytest.fixture(scope="module")
def captured(python: ForkingPython, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The document of a bench of a program that we capture."""
    options = ["--format", "json", "--verify=off", "--repeat", "2", "--backends", "inductor"]
    command = ["-m", "dynamo_cli", "bench", *options, PROGRAM, "five_milliseconds"]
    result = python.run(*command, cwd=tmp_path_factory.mktemp("bench"))
    assert result.exit_code == 0, result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def test_steps_are_as_long_as_they_are(captured: dict[str, Any]) -> None:
    validate(captured)
    assert captured["step"]["function"] == "_sleepy"
    line = PROGRAM.read_text().split("\n")[captured["step"]["place"]["line"] - 1]
    assert line.startswith("def _sleepy"), "and not the line of its decorator"
    for each in captured["backends"]:
        assert each["basis"] == "step", each["why_run"]
        assert each["steps_compared"] > 40
        # A busy machine wakes sleepers late, never early.
        assert STEP <= each["median_seconds"] < 1.5 * STEP


def test_costs_are_those_of_the_backend(captured: dict[str, Any]) -> None:
    backends = by_name(captured)
    assert backends["eager"]["compile_seconds"] == {"cold": 0, "warm": 0}
    assert backends["eager"]["graphs"] == 0
    assert backends["eager"]["agreement"] is None
    inductor = backends["inductor"]
    assert (inductor["graphs"], inductor["graph_breaks"]) == (1, 1)
    assert inductor["compile_seconds"]["cold"] > inductor["compile_seconds"]["warm"] > 0
    assert inductor["peak_bytes"]["resident"] > backends["eager"]["peak_bytes"]["resident"] > 1e8
    assert inductor["peak_bytes"]["cuda"] is None
    assert inductor["output"]["likeness"] == "same"


MODULE_OF_TORCHS = """
import torch
from torch import nn
inner = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
model = torch.compile(nn.Sequential(inner, nn.BatchNorm1d(4), nn.Sequential(nn.ReLU())).eval())
other = torch.compile(nn.Sequential(nn.ReLU()))
distance = nn.MSELoss()
for i in range(30):
    print("other", other(torch.ones(2, 4)).sum() if i in (3, 20) else "")
    print(distance(model(torch.ones(2, 4)), torch.ones(2, 4)).item() >= 0)
"""


def test_a_compiled_module_of_torchs_has_the_steps_that_it_has_in_eager(
    forked: Runner, tmp_path: Path
) -> None:
    """Compiled, it runs through a frame that all such modules share; in eager, so do those within it."""
    (tmp_path / "scores.py").write_text(MODULE_OF_TORCHS)
    options = ["--format", "json", "--verify=off", "--repeat", "1", "--backends", "eager,aot_eager"]
    result = forked("bench", *options, "scores.py")
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    validate(document)
    assert (document["step"]["function"], document["step"]["called_at"]["line"]) == ("Sequential.forward", 10)
    assert {each["basis"] for each in document["backends"]} == {"step"}, document["backends"]
    assert all(20 <= each["steps_compared"] < 30 for each in document["backends"])


@pytest.fixture(scope="module")
def wrong(
    python: ForkingPython, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Result, dict[str, Any], Path]:
    """A bench of a program that compiles itself, under one wrong backend and one that never ends."""
    folder = tmp_path_factory.mktemp("wrong")
    options = ["--format", "json", "--verify=error", "--repeat", "1", "--per-graph", "--time-limit", "15"]
    options += ["--recordings", "kept", "--backends", f"{WRONG},{ENDLESS}"]
    result = python.run("-m", "dynamo_cli", "bench", *options, PROGRAM, "compiles_itself", cwd=folder)
    return result, json.loads(result.stdout), folder


def test_a_wrong_backend_is_named(wrong: tuple[Result, dict[str, Any], Path]) -> None:
    result, document, _ = wrong
    validate(document)
    assert result.exit_code == 117
    assert f"{WRONG} disagrees with eager" in result.stderr
    found = by_name(document)[WRONG]
    assert found["agreement"]["verdict"] == "disagrees"
    assert "first wrong node of graph 1: sin" in found["agreement"]["detail"]
    assert found["output"]["likeness"] == "numbers"
    assert 1e-5 < found["output"]["relative_difference"] < 1e-1


def test_a_program_that_compiles_itself(wrong: tuple[Result, dict[str, Any], Path]) -> None:
    backends = by_name(wrong[1])
    eager, other = backends["eager"], backends[WRONG]
    assert (eager["graphs"], other["graphs"]) == (0, 1)
    assert eager["basis"] == other["basis"] == "step", other["why_run"]
    assert STEP <= eager["median_seconds"] < 1.5 * STEP
    assert other["speed_up"]["low"] is None


def test_a_backend_that_hangs_is_stopped(wrong: tuple[Result, dict[str, Any], Path]) -> None:
    endless = by_name(wrong[1])[ENDLESS]
    assert endless["problem"] == "stopped at the time limit of 15 s"
    assert endless["seconds"] == [] and endless["speed_up"] is None
    assert endless["agreement"] == {"verdict": "not verified", "detail": "it never ran to its end"}


def test_graph_by_graph(wrong: tuple[Result, dict[str, Any], Path]) -> None:
    [graph] = wrong[1]["graphs"]
    assert graph["calls"] == 60
    found = {each["backend"]: each for each in graph["backends"]}
    assert {name: each["verdict"] for name, each in found.items()} == {
        "eager": "agrees",
        WRONG: "disagrees",
        ENDLESS: "timed out",
    }
    assert 0 < found["eager"]["seconds"] < STEP
    assert graph["fastest"] == "eager"


def test_files_are_kept(wrong: tuple[Result, dict[str, Any], Path], run: Runner) -> None:
    folder = wrong[2]
    problems = {each["backend"]: each["problem"] for each in wrong[1]["backends"]}
    assert problems == {"eager": None, WRONG: None, ENDLESS: "stopped at the time limit of 15 s"}
    assert (folder / "kept" / "eager-1.stdout").read_text().strip()
    assert run("graphs", folder / "kept" / "first").exit_code == 0
    again = run("bench", "--recordings", folder / "kept", PROGRAM, "no_steps")
    assert again.exit_code == 120
    assert "is not empty" in again.stderr


def test_a_program_that_fails_is_not_measured(run: Runner) -> None:
    result = run("bench", PROGRAM, "fails")
    assert result.exit_code == 115
    assert result.stderr.splitlines()[-1] == (
        "dynamo: benched fails without any compiling: exit code 1, RuntimeError: the data are not there"
    )


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (["--backends", "inductr", PROGRAM], 124, "did you mean 'inductor'?"),
        (["--backends", "eager,,inductor", PROGRAM], 2, "names a backend with no name"),
        (["no_such_program.py"], 127, "no such file"),
        (["-"], 2, "stdin"),
        ([], 2, "name the program"),
    ],
)
def test_bad_input(run: Runner, arguments: list[str], code: int, line: str) -> None:
    result = run("bench", *arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert line in result.stderr


def test_sigterm_reports_what_is_done(environment: dict[str, str], tmp_path: Path) -> None:
    """As Ctrl-C does, which the tests of autotune send. `timeout` sends it twice, this test all the time."""
    command = [
        sys.executable,
        "-m",
        "dynamo_cli",
        "bench",
        "--repeat",
        "50",
        "--verify=off",
        "--format",
        "json",
    ]
    bench = subprocess.Popen(
        [*command, "--backends", "aot_eager", str(PROGRAM), "no_steps"],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert bench.stderr is not None
    while "round 1 of 50, aot_eager" not in bench.stderr.readline():
        assert bench.poll() is None
    time.sleep(0.5)
    while bench.poll() is None:
        bench.send_signal(signal.SIGTERM)
        time.sleep(0.01)
    stdout, said = bench.communicate(timeout=60)
    assert (bench.returncode, "Traceback" in said) == (143, False)
    document = json.loads(stdout)
    validate(document)
    assert document["is_interrupted"]
    eager, other = document["backends"]
    assert [run["problem"] for run in eager["runs"]] == [None]
    assert other["runs"] == [] and other["speed_up"] is None
