"""`dynamo bench` on real programs."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from conftest import Result, Runner, run_to_end
from recordings import PROGRAMS
from schemas import validate

PROGRAM = PROGRAMS / "benched.py"
WRONG = f"{PROGRAMS / 'off_by_a_thousandth.py'}:backend"
ENDLESS = f"{PROGRAMS / 'off_by_a_thousandth.py'}:endless"
STEP = 0.005  # seconds, of the programs that sleep


def by_name(document: dict[str, Any]) -> dict[str, Any]:
    return {each["backend"]: each for each in document["backends"]}


@pytest.fixture(scope="module")
def captured(
    environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Result, dict[str, Any]]:
    """What a bench of a program that we capture came to, and its document."""
    options = ["--format", "json", "--verify=error", "--repeat", "2", "--backends", f"eager,inductor,{WRONG}"]
    command = [sys.executable, "-m", "dynamo_cli", "bench", *options, str(PROGRAM), "five_milliseconds"]
    result = run_to_end(command, environment, tmp_path_factory.mktemp("bench"))
    return result, json.loads(result.stdout)


def test_steps_are_as_long_as_they_are(captured: tuple[Result, dict[str, Any]]) -> None:
    _, document = captured
    validate(document)
    assert document["step"]["function"] == "_sleepy"
    for each in document["backends"]:
        assert each["basis"] == "step", each["why_run"]
        assert each["steps_compared"] > 40
        # A busy machine wakes sleepers late, never early.
        assert STEP <= each["median_seconds"] < 1.5 * STEP


def test_costs_are_those_of_the_backend(captured: tuple[Result, dict[str, Any]]) -> None:
    backends = by_name(captured[1])
    assert backends["eager"]["compile_seconds"] == {"cold": 0, "warm": 0}
    assert backends["eager"]["graphs"] == 0
    assert backends["eager"]["agreement"] is None
    inductor = backends["inductor"]
    assert (inductor["graphs"], inductor["graph_breaks"]) == (1, 1)
    assert inductor["compile_seconds"]["cold"] > inductor["compile_seconds"]["warm"] > 0
    assert inductor["peak_bytes"]["resident"] > backends["eager"]["peak_bytes"]["resident"] > 1e8
    assert inductor["peak_bytes"]["cuda"] is None


def test_a_wrong_backend_is_named(captured: tuple[Result, dict[str, Any]]) -> None:
    result, document = captured
    backends = by_name(document)
    assert backends["inductor"]["agreement"]["verdict"] == "agrees"
    assert backends["inductor"]["output"]["likeness"] == "same"
    wrong = backends[WRONG]
    assert wrong["agreement"]["verdict"] == "disagrees"
    assert "first wrong node of graph 1: sin" in wrong["agreement"]["detail"]
    assert wrong["output"]["likeness"] == "numbers"
    assert 1e-5 < wrong["output"]["relative_difference"] < 1e-1
    assert result.exit_code == 117
    assert f"{WRONG} disagrees with eager" in result.stderr


def test_a_program_that_compiles_itself(run: Runner) -> None:
    options = ("--repeat", "1", "--verify=off", "--per-graph", "--format", "json", "--backends", "aot_eager")
    result = run("bench", *options, PROGRAM, "compiles_itself")
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    validate(document)
    eager, other = document["backends"]
    assert (eager["graphs"], other["graphs"]) == (0, 1)
    assert eager["basis"] == other["basis"] == "step", other["why_run"]
    assert STEP <= eager["median_seconds"] < 1.5 * STEP
    assert other["speed_up"]["low"] is None
    assert other["agreement"] == {"verdict": "not verified", "detail": None}
    [graph] = document["graphs"]
    assert graph["calls"] == 60
    assert [each["backend"] for each in graph["backends"]] == ["eager", "aot_eager"]
    assert all(0 < each["seconds"] < STEP for each in graph["backends"])


def test_page_and_files(run: Runner, tmp_path: Path) -> None:
    options = ("--repeat", "1", "--verify=off", "--backends", "aot_eager")
    kept = ("--recordings", tmp_path / "kept", "--csv", tmp_path / "speedups.csv", "-o", tmp_path / "page.md")
    result = run("bench", *options, *kept, PROGRAM, "no_steps")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    page = (tmp_path / "page.md").read_text()
    assert "Not steps were compared" in page and "nothing is called often enough" in page
    rows = list(csv.DictReader(io.StringIO((tmp_path / "speedups.csv").read_text())))
    assert [(row["backend"], row["basis"]) for row in rows] == [("eager", "run"), ("aot_eager", "run")]
    assert run("explain", tmp_path / "kept" / "aot_eager-1").exit_code == 0
    assert (tmp_path / "kept" / "aot_eager-1.stdout").read_text().strip()
    again = run("bench", *options, "--recordings", tmp_path / "kept", PROGRAM, "no_steps")
    assert again.exit_code == 120
    assert "is not empty" in again.stderr


def test_a_backend_that_hangs_is_stopped(run: Runner) -> None:
    options = ("--repeat", "1", "--verify=off", "--time-limit", "12", "--format", "json")
    result = run("bench", *options, "--backends", ENDLESS, PROGRAM, "no_steps")
    assert result.exit_code == 0, result.stderr
    eager, other = json.loads(result.stdout)["backends"]
    assert eager["problem"] is None
    assert other["problem"] == "stopped at the time limit of 12 s"
    assert other["seconds"] == [] and other["speed_up"] is None


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


def test_ctrl_c_reports_what_is_done(environment: dict[str, str], tmp_path: Path) -> None:
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
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert bench.stderr is not None
    while "round 2 of 50" not in bench.stderr.readline():
        assert bench.poll() is None
    time.sleep(0.5)
    os.kill(bench.pid, signal.SIGINT)
    stdout, _ = bench.communicate(timeout=60)
    assert bench.returncode == 130
    document = json.loads(stdout)
    validate(document)
    assert document["is_interrupted"]
    assert all(each["runs"][0]["problem"] is None for each in document["backends"])
