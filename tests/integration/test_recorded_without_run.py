"""Processes that a launcher starts record by their environment alone, as they do under `dynamo run`."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from answering import answer
from documents import document
from dynamo_core.recording.digests import digest_by_reading, digests_of
from dynamo_core.recording.read import read, streams_of
from dynamo_core.shared.names import STREAM_PREFIX
from running import PROGRAMS


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
    assert "its exit code is not recorded" in answer("explain", tmp_path / "recording").stdout


def _made_by_reading(stream: Path, folder: Path) -> str:
    """The digest of a stream that has none beside it."""
    alone = Path(shutil.copy(stream, folder))
    digest = digest_by_reading(alone).digest
    assert digest is not None
    return digest.to_json()


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
