"""Processes that a launcher starts record by their environment alone, as they do under `dynamo run`."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from dynamo_core.recording.ranks import digest_by_reading, digests_of
from dynamo_core.recording.read import read, streams_of
from dynamo_core.shared.names import STREAM_PREFIX, UPLOADER_LOCK
from launching import Runner
from running import PROGRAMS
from support.answering import answer
from support.cases import nightly
from support.documents import document


def _variables(folder: Path, place: str = "recording") -> dict[str, str]:
    given: dict[str, str] = json.loads(answer("env", "-o", place, "--format", "json", cwd=folder).stdout)
    return given


def test_a_plain_python_records_and_its_exit_code_is_its_own(
    environment: dict[str, str], tmp_path: Path
) -> None:
    command = [sys.executable, str(PROGRAMS / "fails_at_first.py")]
    started = environment | _variables(tmp_path) | {"TORCHELASTIC_RESTART_COUNT": "0"}
    ended = subprocess.run(command, env=started, cwd=tmp_path, capture_output=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, b"", b"")
    recording = read(tmp_path / "recording")
    assert [graph.ops for process in recording.processes for graph in process.graphs] == [2]
    assert not recording.problems and not recording.is_partial
    assert "its exit code is not recorded" in answer("explain", "--all", tmp_path / "recording").stdout


def test_a_recorded_program_opens_its_own_recording(forked: Runner, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import dynamo_core, torch\n"
        "assert dynamo_core.open().summary.graphs == 0\n"
        "torch.compile(torch.sin, backend='eager')(torch.ones(3))\n"
        "case = dynamo_core.open()\n"
        "print(case.summary.graphs, case.recording.path)\n"
    )
    ran = forked("run", "-o", "here", "program.py")
    assert ran.stdout == f"1 {tmp_path / 'here'}\n", ran.stderr


def _made_by_reading(stream: Path, folder: Path) -> str:
    """The digest of a stream that has none beside it."""
    alone = Path(shutil.copy(stream, folder))
    digest = digest_by_reading(alone).digest
    assert digest is not None
    return digest.to_json()


@nightly
def test_torchrun_records_its_workers_and_a_restart_is_compared_by_itself(
    environment: dict[str, str], tmp_path: Path
) -> None:
    installed = tmp_path / "plug_in-0.dist-info"  # as the project's own is, where it was installed
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: plug-in\nVersion: 0\n")
    (installed / "entry_points.txt").write_text(
        "[torchrun.logs_specs]\ndynamo = dynamo_cli.torchrun_logs:RecordedLogs\n"
    )
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--logs-specs",
        "dynamo",
        "--nproc-per-node",
        "2",
    ]
    command += ["--standalone", "--max-restarts", "1", str(PROGRAMS / "fails_at_first.py")]
    path = os.pathsep.join([str(tmp_path), environment.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    subprocess.run(
        command, env=environment | {"PYTHONPATH": path}, cwd=tmp_path, capture_output=True, check=True
    )
    (recording,) = (path for path in (tmp_path / ".dynamo").iterdir() if path.is_dir())
    for each in streams_of(recording):
        (kept,), made = digests_of([each], lambda done, total: None), _made_by_reading(each, tmp_path)
        if each.name.startswith(f"{STREAM_PREFIX}rank_"):
            assert kept.from_records == 0
        assert kept.digest is not None and kept.digest.to_json() == made
    found = document("ranks", recording)
    assert [(row["ranks"], row["ops"], row["state"]) for row in found["rows"]] == [([0, 1], 1, "ended")]
    assert found["left_out"] == ["an earlier attempt at the job (restart 0, 2 processes)"]


def _run_with(environment: dict[str, str], variables: dict[str, str], folder: Path) -> tuple[int, float]:
    """The exit code of a program that fails, and the seconds that it took."""
    command = [sys.executable, str(PROGRAMS / "fails_at_first.py")]
    started = environment | variables | {"TORCHELASTIC_RESTART_COUNT": "0"}
    began = time.monotonic()
    ended = subprocess.run(command, env=started, cwd=folder, capture_output=True)
    assert (ended.stdout, ended.stderr) == (b"", b"")
    return ended.returncode, time.monotonic() - began


def test_what_is_carried_is_there_when_the_program_has_ended(
    environment: dict[str, str], tmp_path: Path
) -> None:
    variables = _variables(tmp_path, f"file://{tmp_path}/there")
    code, _ = _run_with(environment, variables, tmp_path)
    there = read(tmp_path / "there")
    assert code == 3
    assert [graph.ops for process in there.processes for graph in process.graphs] == [2]
    assert all(process.runtime.end is not None for process in there.processes)
    _until(lambda: not read(tmp_path / "there").not_arrived)
    _until(lambda: not Path(variables["DYNAMO_RUN_RECORDING"]).parent.exists())


def test_a_store_that_takes_nothing_keeps_the_program_no_longer_than_the_bound(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    variables = _variables(tmp_path, f"file://{tmp_path}/file/there")
    code, seconds = _run_with(environment, variables, tmp_path)
    (kept,) = Path(variables["DYNAMO_RUN_RECORDING"]).parent.iterdir()
    try:
        assert code == 3 and seconds < 60
        recording = read(kept)
        assert [graph.ops for process in recording.processes for graph in process.graphs] == [2]
        assert "NotADirectoryError" in recording.not_arrived[0]
    finally:
        carrier = int((kept / UPLOADER_LOCK).read_bytes())
        os.kill(carrier, signal.SIGKILL)
        shutil.rmtree(kept.parent)


def _until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)
