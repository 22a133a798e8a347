"""`dynamo ops` and `dynamo ls` on stored recordings."""

import shutil
from pathlib import Path

import pytest

from answering import answer
from documents import document
from stored import plain, stored


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
