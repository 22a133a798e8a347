"""`[tool.dynamo]` of pyproject.toml: defaults for the options of a run."""

from pathlib import Path
from typing import Any

import click
import pytest

from dynamo_cli.main import dynamo
from dynamo_cli.program import defaults_text
from dynamo_cli.run_command import run_command
from support.answering import answer
from support.stored import stored


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose folder below it is the current one."""
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    return tmp_path / "pyproject.toml"


def parameters(*arguments: str) -> dict[str, Any]:
    group = click.Context(dynamo, info_name="dynamo", auto_envvar_prefix="DYNAMO")
    return run_command.make_context("run", list(arguments), parent=group).params


def test_the_project_says_what_is_not_said_otherwise(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write_text(
        "[tool.dynamo]\nbackend = 'eager'\nop-limit = 77\nconfig = ['a.b=1', 'c.d=2']\ndynamic = false\n"
        "verify = 'error'\nstrict = true\n\n[tool.dynamo.check]\nmax-graphs = 1\n"
    )
    monkeypatch.setenv("DYNAMO_OP_LIMIT", "5")
    given = parameters("--no-dynamic", "--config", "e.f=3", "x.py")
    assert (given["backend"], given["op_limit"], given["config"]) == ("eager", 5, ("e.f=3",))
    assert (given["dynamic"], given["verify"], given["strict"]) == (False, "error", True)
    assert parameters("--backend", "aot_eager", "x.py")["backend"] == "aot_eager"
    assert parameters("x.py")["config"] == ("a.b=1", "c.d=2")
    project.unlink()
    assert parameters("x.py")["backend"] == "inductor"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("bakcend = 'eager'", "'bakcend', which is not known; did you mean 'backend'?"),
        ("output = 'x'", "'output', which is not known"),
        ("xyzzy = 1", "known are check, autotune-file, backend"),
        ("capture = 'x'", "[tool.dynamo] capture: 'x' is not one of"),
        ("config = 'a.b=1'", "[tool.dynamo] config is no list"),
        ("backend = ['eager']", "[tool.dynamo] backend is not one value"),
        ("backend = ", "cannot read"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_run(text: str, says: str, project: Path) -> None:
    project.write_text(f"[tool.dynamo]\n{text}\n")
    result = answer("run", "x.py")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (109, "", 1)
    assert says in result.stderr


def test_a_recording_is_read_without_a_word_of_it(project: Path) -> None:
    project.write_text("[tool.dynamo]\nbackend = 'eager'\n")
    assert answer("breaks", stored("toy")).stderr == ""
    assert defaults_text({"op_limit": 7, "options": ("a=1",)}) == "op-limit = 7, option = ('a=1',)"
