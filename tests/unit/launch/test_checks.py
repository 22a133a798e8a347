"""Questions to the program's Python, and what is checked of a backend's file without running it."""

from pathlib import Path

import pytest

from dynamo_core.launch.checks import NoAnswer, ask, check_backend
from dynamo_core.launch.program import Program
from dynamo_core.shared.errors import BackendProblem
from dynamo_core.shared.settings import Settings

BACKENDS = """
import module.inner
from elsewhere import it as imported
def defined(gm, inputs): return used(gm)
class Class: pass
assigned = partial(defined)
raise SystemExit
"""


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("kill -9 $$", "the process was ended by signal 9 (Killed)"),
        ("exit 3", "the process ended with exit code 3"),
        ("echo first >&2; echo 'ImportError: no torch' >&2; exit 1", "ImportError: no torch"),
        ("sleep 9", "it did not end within 0.5 s"),
    ],
)
def test_a_process_that_gives_no_answer_says_how_it_ended(tmp_path: Path, script: str, says: str) -> None:
    with pytest.raises(NoAnswer) as raised:
        ask(python_that_does(script, tmp_path), "backends", time_limit=0.5 if "sleep" in script else 60)
    assert str(raised.value) == says


def test_the_answer_is_the_last_line(tmp_path: Path) -> None:
    assert ask(python_that_does("echo noise; echo '[1]'", tmp_path), "backends") == [1]


def python_that_does(script: str, folder: Path) -> str:
    file = folder / "python"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return str(file)


def test_a_backend_of_a_file_is_what_the_file_defines(tmp_path: Path) -> None:
    """The file would fail if it was run."""
    file = tmp_path / "backends.py"
    file.write_text(BACKENDS)
    program = Program(("train.py",), is_python=True)
    for name in ("defined", "Class", "assigned", "imported", "module"):
        settings = Settings("/rec", backend=f"{file}:{name}")
        assert check_backend(settings, program, "no-python").backend == settings.backend
    with pytest.raises(BackendProblem, match="defines no 'used'"):
        check_backend(Settings("/rec", backend=f"{file}:used"), program, "no-python")
