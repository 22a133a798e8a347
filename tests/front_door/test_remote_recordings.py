"""Recordings at URLs read as those in folders; what is wrong with a URL is one line."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from dynamo_core.shared.names import RUN_FILE, UPLOAD_LIST_PREFIX
from support.answering import answer
from support.documents import document
from support.stored import stored

URL = "memory://bucket/runs"


@pytest.fixture
def store() -> Iterator[fsspec.AbstractFileSystem]:
    """Two jobs, of which `training` is the newer."""
    files = fsspec.filesystem("memory")
    for number, name in enumerate(("toy", "training")):
        for file in stored(name).iterdir():
            content = file.read_bytes()
            if file.name == RUN_FILE:
                content = json.dumps({**json.loads(content), "started_ns": 1000 + number}).encode()
            files.pipe_file(f"bucket/runs/{name}/{file.name}", content)
    yield files
    files.rm("bucket", recursive=True)


def test_a_url_says_what_the_folder_says(store: fsspec.AbstractFileSystem) -> None:
    for command in ("explain", "breaks", "ranks"):
        there, here = (json.loads(answer(command, target, "--format", "json").stdout) for target in (
            f"{URL}/toy", stored("toy")
        ))  # fmt: skip
        assert there["recording"] == f"{URL}/toy"
        assert all(f" {URL}/toy" in each["command"] or each["runs_program"] for each in there["next"])
        for each in (there, here):
            each.pop("recording"), each.pop("next"), (each.get("run") or {}).pop("started_ns", None)
        assert there == here


def test_of_a_folder_of_jobs_the_newest_is_read(store: fsspec.AbstractFileSystem) -> None:
    result = answer("explain", URL)
    assert f"Recorded in {URL}/training." in result.stdout
    assert f"read from {URL} (training)" in result.stderr
    assert result.exit_code == 0


def test_of_a_local_folder_of_jobs_too(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to(stored("toy"))
    result = answer("explain", tmp_path)
    assert "has 1 recording; this is the newest" in result.stderr and result.exit_code == 0


def test_what_did_not_arrive_is_named(store: fsspec.AbstractFileSystem) -> None:
    rows = {"dynamo_calls_gone.bin": {"size": 70_000, "arrived": 0, "error": "TimeoutError: no answer"}}
    content = {"files": rows, "finished": True}
    store.pipe_file(f"bucket/runs/toy/{UPLOAD_LIST_PREFIX}h.json", json.dumps(content).encode())
    assert "dynamo_calls_gone.bin did not arrive whole" in answer("explain", f"{URL}/toy").stdout
    page = answer("explain", "--all", f"{URL}/toy").stdout
    assert "dynamo_calls_gone.bin did not arrive whole (0 of 70000 bytes: TimeoutError: no answer)" in page
    assert document("explain", f"{URL}/toy")["is_partial"] is True


@pytest.mark.parametrize(
    ("url", "code", "says"),
    [
        ("memory://bucket/runs/nothing", 123, "no such recording: memory://bucket/runs/nothing"),
        ("unknown://x/y", 123, "Protocol not known: unknown"),
        ("s3://bucket/x", 123, "pip install"),
    ],
)
def test_a_url_that_cannot_be_read_is_one_line(
    store: fsspec.AbstractFileSystem, url: str, code: int, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)  # as where it is not installed
    result = answer("explain", url)
    assert (result.exit_code, result.stdout) == (code, "")
    assert says in result.stderr and result.stderr.count("\n") == 1


def test_a_url_that_cannot_be_recorded_to_is_one_line(tmp_path: Path) -> None:
    result = answer("env", "-o", "unknown://x", cwd=tmp_path)
    assert result.exit_code == 120 and "cannot record to unknown://x" in result.stderr
    assert result.stderr.count("\n") == 1


def test_processes_get_a_folder_here_and_where_to_carry_it(tmp_path: Path) -> None:
    given = json.loads(answer("env", "-o", "memory://b/{job}", "--format", "json", cwd=tmp_path).stdout)
    settings = json.loads(given["DYNAMO_RUN_SETTINGS"])
    assert settings["carried_to"] == "memory://b/{job}"
    assert given["DYNAMO_RUN_RECORDING"].startswith("/tmp/dynamo-carried-")


def test_two_urls_are_compared(store: fsspec.AbstractFileSystem) -> None:
    there = document("diff", f"{URL}/toy", f"{URL}/training")
    here = document("diff", stored("toy"), stored("training"))
    assert there["difference"]["sentence"] == here["difference"]["sentence"]


def test_a_run_does_not_take_a_url_for_a_folder(tmp_path: Path) -> None:
    result = answer("run", "-o", "s3://bucket/x", "program.py", cwd=tmp_path)
    assert (result.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert "dynamo env -o URL" in result.stderr
