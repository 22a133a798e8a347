"""Options of ours behind the program's name, and values where the program should stand."""

from pathlib import Path

import pytest

from dynamo_cli.program import hint_for_misplaced
from dynamo_cli.run_command import run_command
from dynamo_core.launch.program import Program
from support.answering import answer


def hint(script: Path, *arguments: str) -> str | None:
    return hint_for_misplaced(run_command, Program((str(script), *arguments), is_python=True))


def test_an_option_that_the_script_does_not_mention_is_named(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import torch\n")
    told = hint(script, "--backend", "eager", "--epochs", "1", "--fullgraph", "--op-limit=3")
    assert told == (
        "train.py is given --backend, --fullgraph, --op-limit, which it does not mention; "
        f"options for dynamo stand in front: dynamo run --backend eager --fullgraph --op-limit=3 {script}"
    )


@pytest.mark.parametrize("text", ["parser.add_argument('--op-limit')", "def main(op_limit: int): ..."])
def test_an_option_that_the_script_has_itself_is_its_own(text: str, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(text)
    assert hint(script, "--op-limit", "3") is None


def test_a_short_option_is_named_too(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("y = x - y\n")
    result = answer("fix", script, "-y", cwd=tmp_path)
    assert result.exit_code == 2
    first, second = result.stderr.splitlines()
    assert first.startswith("dynamo: train.py is given -y, which it does not mention; ")
    assert first.endswith(f"dynamo fix -y {script}")
    assert second.endswith(f"add --yes, as in `dynamo fix --yes {script} -y`")
    script.write_text("parser.add_argument('-y', '--yes')\n")
    assert "does not mention" not in answer("fix", script, "-y", cwd=tmp_path).stderr


@pytest.mark.parametrize("arguments", [(), ("--epochs", "3"), ("eager", "-v")])
def test_nothing_is_said_of_the_programs_own(arguments: tuple[str, ...], tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import torch\n")
    assert hint(script, *arguments) is None
    assert hint(tmp_path / "gone.py", "--backend", "eager") is None


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "--fullgraph", "keep-going", "x.py"], "--fullgraph=keep-going"),
        (["explain", "--verify", "error", "x.py"], "--verify=error"),
    ],
)
def test_a_value_in_the_place_of_the_program(arguments: list[str], says: str, tmp_path: Path) -> None:
    result = answer(*arguments, cwd=tmp_path)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert says in result.stderr


@pytest.mark.parametrize("option", ["--format", "--json"])
def test_a_run_that_is_asked_for_a_report_names_the_command_that_prints_one(option: str) -> None:
    result = answer("run", option, "train.py")
    assert result.exit_code == 2
    assert "dynamo explain --json runs a program and prints a report" in result.stderr
