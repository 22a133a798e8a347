"""A question to the program's Python: the answer, or how the process ended without one."""

from pathlib import Path

import pytest

from dynamo_core.launch.checks import NoAnswer, ask


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
