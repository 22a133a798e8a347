"""`dynamo profile` on programs that know what they spent: the split adds up, and agrees with them."""

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Result
from recordings import PROGRAMS, SAMPLES
from running import situations_of
from schemas import validate

PROGRAM = PROGRAMS / "known_times.py"
CLOSE = 0.02  # of the wall time
# What a program says of itself, and the part of the wall time that it is.
TOLD = {"compiling": "compiling", "in_graphs": "inside compiled graphs"}
WHOLE = {"is_killed": -signal.SIGKILL}


def profiled(run: Callable[..., Result], *target: str | Path) -> dict[str, Any]:
    result = run("profile", "--format", "json", *target)
    document: dict[str, Any] = json.loads(result.stdout)
    validate(document)
    return document


def parts_of(process: dict[str, Any]) -> dict[str, float]:
    return {part["name"]: part["seconds"] for part in process["wall_time"]["parts"]}


def calls_of(process: dict[str, Any]) -> int:
    return sum(graph["forward"]["calls"] for graph in process["graphs"] if graph["forward"])


@pytest.mark.parametrize("name", situations_of("known_times.py"))
def test_the_split_agrees_with_the_program(name: str, run: Callable[..., Result]) -> None:
    result = run("run", "-q", "-o", "rec", PROGRAM, name)
    assert result.exit_code == WHOLE.get(name, 0), result.stderr
    told = json.loads(result.stdout.splitlines()[0])
    document = profiled(run, "rec")
    main = next(process for process in document["processes"] if process["wall_time"]["is_main"])
    wall, parts = main["wall_time"]["seconds"], parts_of(main)
    assert sum(filter(None, parts.values())) == pytest.approx(wall, rel=CLOSE)
    for key, part in TOLD.items():
        assert parts[part] == pytest.approx(told[key], abs=CLOSE * wall), key
    # Sleeping is in the remainder; so is what else the program does, which it cannot tell.
    assert parts["eager code and the rest"] >= told["eager"] - CLOSE * wall
    assert calls_of(main) == told["calls"]


def test_a_forked_child_has_its_own_time(run: Callable[..., Result]) -> None:
    run("run", "-q", "-o", "rec", PROGRAM, "forks")
    child = next(p for p in profiled(run, "rec")["processes"] if not p["wall_time"]["is_main"])
    wall = child["wall_time"]
    assert wall["saw_end"] is False  # it left by os._exit
    assert 40 * 0.005 <= wall["seconds"] < 1
    assert 40 * 0.005 <= parts_of(child)["inside compiled graphs"] <= wall["seconds"]


def test_each_of_two_processes_adds_up(run: Callable[..., Result]) -> None:
    run("run", "-q", "-o", "rec", PROGRAM, "two_processes")
    processes = profiled(run, "rec")["processes"]
    assert sorted(calls_of(process) for process in processes) == [36, 201]
    for process in processes:
        seconds = process["wall_time"]["seconds"]
        assert sum(filter(None, parts_of(process).values())) == pytest.approx(seconds, rel=CLOSE)


def test_a_break_costs_what_the_program_sleeps_there(run: Callable[..., Result]) -> None:
    run("run", "-q", "-o", "rec", PROGRAM, "breaks")
    [graph_break] = profiled(run, "rec")["breaks"]
    assert graph_break["crossed"] == 101
    assert 0.003 <= graph_break["seconds_each"] < 0.006
    assert graph_break["seconds"] == pytest.approx(101 * graph_break["seconds_each"])


def test_steady_steps_and_warm_up(run: Callable[..., Result]) -> None:
    run("run", "-q", "-o", "rec", PROGRAM, "recompiles")
    [process] = profiled(run, "rec")["processes"]
    assert process["steady_state"]["warm_up_steps"] == {"least": 30, "most": 30}
    run("run", "-q", "-o", "steady", PROGRAM, "runs_steadily")
    [process] = profiled(run, "steady")["processes"]
    steady = process["steady_state"]
    assert 0.008 <= steady["mean_seconds"] < 0.016
    assert steady["fastest_seconds"] <= steady["median_seconds"] <= steady["slowest_seconds"]
    assert profiled(run, "--step", "known_times:absent", "steady")["processes"][0]["steady_state"] is None


def test_backward_graphs_are_counted_and_compile_phases_known(run: Callable[..., Result]) -> None:
    result = run("run", "-q", "-o", "rec", SAMPLES / "train_loop.py")
    assert result.exit_code == 0, result.stderr
    [process] = profiled(run, "rec")["processes"]
    [graph] = process["graphs"]
    assert graph["forward"]["calls"] == graph["backward"]["calls"] == 20
    assert graph["guard_seconds_each"] > 0
    for times in (graph["forward"], graph["backward"]):
        assert sum(bucket["calls"] for bucket in times["histogram"]) == 20
        assert times["p50_seconds"] <= times["p99_seconds"] <= times["seconds"]
    assert process["compile_time"]["seconds"] > 0


def test_a_plain_trace_says_what_it_lacks(recordings: Any, run: Callable[..., Result]) -> None:
    document = profiled(run, recordings.plain("recompiling"))
    [process] = document["processes"]
    assert process["wall_time"] is None
    assert all(graph["forward"] is None for graph in process["graphs"])
    assert process["compile_time"]["seconds"] > 0
    text = run("profile", recordings.plain("recompiling")).stdout
    assert "not recorded" in text
