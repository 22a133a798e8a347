"""`dynamo profile` on programs that know what they spent: the split adds up, and agrees with them."""

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from launching import ForkingPython
from recordings import PROGRAMS, SAMPLES
from running import situations_of
from support.answering import Result, answer
from support.schemas import validate

PROGRAM = PROGRAMS / "known_times.py"
CLOSE = 0.02  # of the wall time
AROUND_S = 0.05  # what a program times around a compile is more than the compile
# What a program says of itself, and the part of the wall time that it is.
TOLD = {"compiling": "compiling", "in_graphs": "inside compiled graphs"}
ENDS = {"is_killed": -signal.SIGKILL}

Profiled = Callable[..., tuple[dict[str, Any], dict[str, Any]]]


@pytest.fixture
def run(forked: Callable[..., Result]) -> Callable[..., Result]:
    """Nothing here is about how a process starts."""
    return forked


@pytest.fixture(scope="module")
def profiled(python: ForkingPython, tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    """`profiled(name)` is what a program told, and the profile's document. Each program runs once."""
    folder = tmp_path_factory.mktemp("known_times")
    told: dict[str, dict[str, Any]] = {}

    def dynamo(*arguments: str | Path) -> Result:
        return python.run("-m", "dynamo_cli", *arguments, cwd=folder)

    def profile(name: str, *options: str) -> tuple[dict[str, Any], dict[str, Any]]:
        if name not in told:
            result = dynamo("run", "-q", "-o", name, PROGRAM, name)
            assert result.exit_code == ENDS.get(name, 0), result.stderr
            told[name] = json.loads(result.stdout.splitlines()[0])
        return told[name], document(answer("profile", "--format", "json", *options, name, cwd=folder))

    return profile


def document(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.stderr
    read: dict[str, Any] = json.loads(result.stdout)
    validate(read)
    return read


def parts_of(process: dict[str, Any]) -> dict[str, float]:
    return {part["name"]: part["seconds"] for part in process["wall_time"]["parts"]}


def calls_of(process: dict[str, Any]) -> int:
    return sum(graph["forward"]["calls"] for graph in process["graphs"] if graph["forward"])


@pytest.mark.parametrize("name", situations_of("known_times.py"))
def test_the_split_agrees_with_the_program(name: str, profiled: Profiled) -> None:
    told, profile = profiled(name)
    main = next(process for process in profile["processes"] if process["wall_time"]["is_main"])
    wall, parts = main["wall_time"]["seconds"], parts_of(main)
    assert sum(filter(None, parts.values())) == pytest.approx(wall, rel=CLOSE)
    for key, part in TOLD.items():
        assert parts.get(part, 0.0) == pytest.approx(told[key], abs=CLOSE * wall + AROUND_S), key
    # Sleeping is in the remainder; so is what else the program does, which it cannot tell.
    assert parts["eager code and the rest"] >= told["eager"] - CLOSE * wall
    assert calls_of(main) == told["calls"]


def test_a_forked_child_has_its_own_time(profiled: Profiled) -> None:
    _, profile = profiled("forks")
    child = next(p for p in profile["processes"] if not p["wall_time"]["is_main"])
    wall = child["wall_time"]
    assert wall["saw_end"] is False  # it left by os._exit
    assert 40 * 0.005 <= parts_of(child)["inside compiled graphs"] <= wall["seconds"]
    assert child["inherited"]["calls"] == 40
    assert child["inherited"]["seconds"] == pytest.approx(parts_of(child)["inside compiled graphs"])


def test_each_of_two_processes_adds_up(profiled: Profiled) -> None:
    _, profile = profiled("two_processes")
    assert sorted(calls_of(process) for process in profile["processes"]) == [36, 201]
    for process in profile["processes"]:
        seconds = process["wall_time"]["seconds"]
        assert sum(filter(None, parts_of(process).values())) == pytest.approx(seconds, rel=CLOSE)


def test_a_break_costs_what_the_program_sleeps_there(profiled: Profiled) -> None:
    [graph_break] = profiled("breaks")[1]["breaks"]
    assert graph_break["crossed"] == 101
    assert 0.003 <= graph_break["seconds_each"] < 0.01
    assert graph_break["seconds"] == pytest.approx(101 * graph_break["seconds_each"])


def test_steady_steps_and_warm_up(profiled: Profiled) -> None:
    [process] = profiled("recompiles")[1]["processes"]
    assert process["steady_state"]["warm_up_steps"] == {
        "least": 31,
        "most": 31,
    }  # six times five, and the last graph's first
    [process] = profiled("runs_steadily")[1]["processes"]
    steady = process["steady_state"]
    assert steady["mean_seconds"] >= 0.008  # 5 ms in the graph and 3 ms outside
    assert steady["fastest_seconds"] <= steady["median_seconds"] <= steady["slowest_seconds"]
    [process] = profiled("runs_steadily", "--step", "known_times:runs_steadily")[1]["processes"]
    assert process["steady_state"] is not None


def test_backward_graphs_are_counted_and_compile_phases_known(
    run: Callable[..., Result],
) -> None:
    result = run("profile", "--format", "json", "--recording", "rec", SAMPLES / "train_loop.py")
    [process] = document(result)["processes"]
    [graph] = process["graphs"]
    assert graph["forward"]["calls"] == graph["backward"]["calls"] == 20
    assert graph["guard_seconds_each"] > 0
    for times in (graph["forward"], graph["backward"]):
        assert sum(bucket["calls"] for bucket in times["histogram"]) == 20
        assert times["p50_seconds"] <= times["p99_seconds"] <= times["seconds"]
    assert process["compile_time"]["seconds"] > 0
