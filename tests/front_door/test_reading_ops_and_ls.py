"""`dynamo ops` and `dynamo ls` on stored recordings."""

import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.answering import answer
from support.documents import document
from support.stored import plain, stored


@pytest.mark.parametrize("recording", ["toy", "recompiling", "training"])
def test_ops_executed_are_nodes_times_calls(recording: str) -> None:
    told = document("ops", stored(recording))
    executed: dict[str, int] = {}
    for graph in told["graphs"]:
        assert sum(op["count"] for op in graph["ops"]) == graph["op_count"]
        for op in graph["ops"]:
            assert op["executed"] == op["count"] * graph["calls"]
            executed[op["name"]] = executed.get(op["name"], 0) + op["executed"]
    assert {op["name"]: op["executed"] for op in told["total"]} == executed


def test_the_toys_ops() -> None:
    told = document("ops", stored("toy"))
    assert [graph["op_count"] for graph in told["graphs"]] == [5, 2, 1]
    first = told["total"][0]
    assert (first["name"], first["count"], first["executed"]) == ("operator.mul", 3, 152)
    assert answer("ops", stored("toy")).stdout.startswith("8 ops in 3 graphs\n")


def test_a_plain_trace_has_neither_ops_nor_calls() -> None:
    told = document("ops", plain("recompiling"))
    assert {(graph["calls"], graph["ops"]) for graph in told["graphs"]} == {(None, None)}
    assert sum(graph["op_count"] for graph in told["graphs"]) == 27
    assert told["total"] is None


def test_recordings_are_listed_the_newest_last(tmp_path: Path) -> None:
    for name in ("toy", "killed", "recompiling"):
        shutil.copytree(stored(name), tmp_path / ".dynamo" / name)
    result = answer("ls", cwd=tmp_path)
    assert (result.exit_code, result.stderr) == (0, "")
    _, *lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines if line] == [
        ".dynamo/toy",
        ".dynamo/recompiling",
        ".dynamo/killed",
    ]
    assert "killed by SIGTERM" in lines[2] and "ended with exit code 0" in lines[0]
    assert answer("ls", tmp_path / ".dynamo").stdout.count("\n") == result.stdout.count("\n")


def test_a_folder_without_recordings_is_listed_as_empty(tmp_path: Path) -> None:
    result = answer("ls", tmp_path)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "toy" not in result.stdout


def test_counts_age_and_marks_are_listed(tmp_path: Path) -> None:
    for name in ("toy", "recompiling"):
        shutil.copytree(stored(name), tmp_path / ".dynamo" / name)
    (tmp_path / ".dynamo" / "broken").mkdir()
    (tmp_path / ".dynamo" / "broken" / "dynamo_run.json").write_text("{")
    first, *lines = answer("ls", cwd=tmp_path).stdout.splitlines()
    assert first.split() == [
        "recording",
        "age",
        "size",
        "graphs",
        "breaks",
        "recompiles",
        "program",
        "command",
    ]
    broken, toy, recompiling = lines
    assert "cannot be read" in broken
    assert re.search(r"toy +\d+ (d|h|min|s) +[\d.]+ [kM]B +3 +1 +0  ended with exit code 0", toy)
    assert re.search(r" 14 +0 +12  newest, ended with exit code 0", recompiling)
    with claimed(tmp_path / ".dynamo" / "toy"):
        assert " 0  running " in answer("ls", cwd=tmp_path).stdout.splitlines()[2]


def test_only_the_newest_are_listed_unless_all_are_wanted(tmp_path: Path) -> None:
    for number in range(22):
        folder = tmp_path / f"r{number}"
        folder.mkdir()
        (folder / "dynamo_run.json").write_text("{")
    page = answer("ls", tmp_path).stdout
    assert page.startswith("2 older recordings: --all shows all.\n") and len(page.splitlines()) == 22
    assert len(answer("ls", tmp_path, "--all").stdout.splitlines()) == 23


def test_pruning_keeps_the_newest_those_in_use_and_what_is_not_ours(tmp_path: Path) -> None:
    dynamo = tmp_path / ".dynamo"
    for name in ("toy", "killed", "recompiling", "training", "profiled"):
        shutil.copytree(stored(name), dynamo / name)
    order = [line.split()[0] for line in answer("ls", cwd=tmp_path).stdout.splitlines()[1:]]
    (tmp_path / order[0] / "notes.txt").write_text("mine")
    unasked = answer("ls", "--prune", "--keep", "2", cwd=tmp_path)
    assert (unasked.exit_code, len(list(dynamo.iterdir()))) == (2, 5)
    with claimed(tmp_path / order[1]):
        pruned = answer("ls", "--prune", "--keep", "2", "-y", cwd=tmp_path)
    assert pruned.exit_code == 0 and "removed 1 of 3" in pruned.stderr
    assert "'notes.txt', which is not ours" in pruned.stderr and "is in use" in pruned.stderr
    left = [line.split()[0] for line in answer("ls", cwd=tmp_path).stdout.splitlines()[1:]]
    assert left == [*order[:2], *order[3:]]
    assert "nothing to remove" in answer("ls", "--prune", cwd=tmp_path).stderr


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """As a launcher that is at work there."""
    descriptor = os.open(folder, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)
