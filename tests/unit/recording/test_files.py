"""Which processes still write to a recording."""

import subprocess
import sys
from pathlib import Path

from dynamo_core.recording import files
from dynamo_core.shared.names import PYTHON_PROCESSES_FILE, RECORDING_VARIABLE


def test_a_process_that_still_runs_is_known_by_its_environment(tmp_path: Path) -> None:
    folder, link = tmp_path / "rec", tmp_path / "link"
    folder.mkdir()
    link.symlink_to(folder)
    names = {"link": str(link), "other": str(tmp_path)}
    wait = [sys.executable, "-c", "print(); input()"]
    started = {
        name: subprocess.Popen(
            wait, env={RECORDING_VARIABLE: path}, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for name, path in names.items()
    }
    try:
        lines = "".join(f"{each.pid} 1\n" for each in started.values())
        (folder / PYTHON_PROCESSES_FILE).write_text(f"{lines}\n99999999 1\n")
        for each in started.values():
            assert each.stdout is not None
            each.stdout.readline()
        assert files._processes_that_record_to(folder) == [started["link"].pid]
    finally:
        for each in started.values():
            each.communicate(b"\n")
    assert files._processes_that_record_to(folder) == []
