"""`dynamo repro`: options behind a recording, and files that it does not replace."""

from pathlib import Path

from support.answering import answer
from support.stored import stored


def test_options_stand_behind_a_recording_too(tmp_path: Path) -> None:
    result = answer("repro", stored("toy"), "-y", "--budget", "soon", cwd=tmp_path)
    assert result.exit_code == 2
    assert "--budget" in result.stderr and "soon" in result.stderr


def test_a_file_of_the_users_is_replaced_only_where_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "repro.py").write_text("print('mine')\n")
    refused = answer("repro", "-y", stored("toy"), cwd=tmp_path)
    assert (refused.exit_code, "add `-o repro.py` to replace it" in refused.stderr) == (2, True)
    named = answer("repro", "-y", "-o", "repro.py", stored("toy"), cwd=tmp_path)
    assert "to replace it" not in named.stderr
    (tmp_path / "issue.md").write_text("# torch.compile: \n")  # which an earlier run has written beside it
    again = answer("repro", "-y", stored("toy"), cwd=tmp_path)
    assert "to replace it" not in again.stderr
    assert (tmp_path / "repro.py").read_text() == "print('mine')\n"
