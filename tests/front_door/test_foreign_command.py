"""Another package's `dynamo` before ours on PATH: one line says so, where it disturbs nobody."""

from pathlib import Path

import pytest

from dynamo_cli.foreign_command import foreign_command
from support.answering import answer
from support.stored import stored

OF_ANOTHER = "#!/usr/bin/python3\nimport sys\nfrom dynamo.sdk.cli.cli import cli\nsys.exit(cli())\n"
OF_OURS = "#!/usr/bin/python3\nimport sys\nfrom dynamo_cli.main import main\nsys.exit(main())\n"
OF_A_SHELL = '#!/usr/bin/env bash\nexec "$HOME/.pyenv/bin/pyenv" exec dynamo "$@"\n'


def on_path(folder: Path, content: str | bytes) -> dict[str, str]:
    command = folder / "dynamo"
    command.write_bytes(content.encode() if isinstance(content, str) else content)
    command.chmod(0o755)
    return {"PATH": str(folder)}


@pytest.mark.parametrize(
    ("content", "is_foreign"),
    [(OF_ANOTHER, True), (b"\x7fELF\0\0", True), (OF_OURS, False), (OF_A_SHELL, False), ("", False)],
)
def test_whose_command_it_is(content: str | bytes, is_foreign: bool, tmp_path: Path) -> None:
    line = (
        f"dynamo: `dynamo` on your PATH is another package's command ({tmp_path}/dynamo): type `dynamo-cli` "
        "for this one\n"
    )
    result = answer("explain", stored("toy"), env=on_path(tmp_path, content))
    assert (result.exit_code, result.stderr) == (0, line if is_foreign else "")


def test_it_is_not_said_where_nobody_wants_it(tmp_path: Path) -> None:
    foreign = on_path(tmp_path, OF_ANOTHER)
    for variables in ({"DYNAMO_FORMAT": "json"}, {"DYNAMO_QUIET": "1"}):
        assert answer("explain", stored("toy"), env=foreign | variables).stderr == ""
    assert answer("explain", stored("toy"), "--json", env=foreign).stderr == ""
    for quiet in ("-q", "--quiet"):
        assert answer("run", quiet, "nowhere.py", env=foreign).stderr.count("\n") == 1


def test_who_types_dynamo_cli_knows_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", on_path(tmp_path, OF_ANOTHER)["PATH"])
    assert foreign_command("/venv/bin/dynamo") == str(tmp_path / "dynamo")
    assert foreign_command("/venv/bin/dynamo-cli") is None
    assert foreign_command(str((tmp_path / "dynamo").resolve())) is None
    monkeypatch.setenv("PATH", "")
    assert foreign_command("/venv/bin/dynamo") is None
