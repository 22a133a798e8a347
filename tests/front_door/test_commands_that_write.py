"""Commands that run a program refuse what they cannot do before anything runs."""

from pathlib import Path

import pytest

from dynamo_cli import repro_command
from support.answering import answer


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-o", "p.py"), "is the program itself"),
        (("--of", "graph"), "graph:N, break:N, recompile:N"),
        (("--budget", "soon"), "90s, 10m or 1h"),
        ((), "add --yes, as in `dynamo repro --yes p.py`"),
    ],
)
def test_refused(options: tuple[str, ...], words: str, tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text("raise SystemExit(9)\n")
    result = answer("repro", *options, "p.py", cwd=tmp_path)
    assert result.exit_code == 2
    assert words in result.stderr
    assert (tmp_path / "p.py").read_text() == "raise SystemExit(9)\n"


@pytest.mark.parametrize(
    "command",
    [("repro", "-y", "-o"), ("fix", "-y", "--patch"), ("bench", "-o"), ("export", "-o"), ("report", "-o")],
)
def test_a_folder_that_is_not_there_is_said_before_anything_runs(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "p.py").write_text("raise SystemExit(9)\n")
    result = answer(*command, "out/file", "p.py", cwd=tmp_path)
    assert result.exit_code == 120
    assert result.stderr == "dynamo: cannot write out/file: No such file or directory\n"
    assert not (tmp_path / ".dynamo").exists()


@pytest.mark.parametrize("command", ["repro", "fix"])
def test_no_such_file(command: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("raise SystemExit(9)\n")
    result = answer(command, "-y", "trian.py", cwd=tmp_path)
    assert result.exit_code == 127
    assert result.stderr == "dynamo: no such file: trian.py; did you mean 'train.py'?\n"


def test_an_issue_that_somebody_else_wrote_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text("raise SystemExit(9)\n")
    (tmp_path / "issue.md").write_text("mine\n")
    result = answer("repro", "-y", "p.py", cwd=tmp_path)
    assert (result.exit_code, "issue.md is there and not of `dynamo repro`" in result.stderr) == (2, True)
    assert (tmp_path / "issue.md").read_text() == "mine\n"


def test_a_repro_that_is_interrupted_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(repro_command, "reproduce", interrupted)
    monkeypatch.setattr(repro_command, "_recorded", lambda *_: (None, tmp_path, 0.0))
    (tmp_path / "p.py").write_text("raise SystemExit(9)\n")
    result = answer("repro", "-y", "p.py", cwd=tmp_path)
    assert result.exit_code == 130
    assert "the same command goes on where it was" in result.stderr
    assert not (tmp_path / "repro.py").exists()
