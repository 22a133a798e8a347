"""Each reader of files answers damaged ones, or says in a line what is wrong; `tests/fuzz.py` tries more."""

from pathlib import Path

import pytest
from fuzz import READERS, Reader, try_input

_INPUTS = 150
_NEEDS = {"notebook": "nbformat", "request": "mcp"}  # packages that reading does without


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_no_traceback(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(_NEEDS.get(name, "click"))
    made = tmp_path / "made"
    made.mkdir()
    monkeypatch.chdir(tmp_path)
    reader = READERS[name](made)
    assert not list(filter(None, (try_input(reader, seed) for seed in range(_INPUTS))))


def test_a_reader_that_raises_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    error = try_input(Reader("input", [b"x"], lambda: [][0]), 0)
    assert error is not None and error.endswith("IndexError: list index out of range\n")
