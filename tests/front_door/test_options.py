"""Each option can be given by an environment variable; one meant for another command harms none."""

from pathlib import Path

import click
import pytest

from answering import answer
from dynamo_cli.help_pages import CommandWithHelp
from dynamo_cli.main import dynamo
from stored import stored

_GROUP = click.Context(dynamo, info_name="dynamo", auto_envvar_prefix="DYNAMO")


@pytest.mark.parametrize("name", dynamo.list_commands(_GROUP))
def test_the_help_names_the_environment_variable_of_every_option(name: str) -> None:
    command = dynamo.get_command(_GROUP, name)
    assert command is not None
    context = click.Context(command, info_name=name, parent=_GROUP)
    described = [
        (option.get_help_record(context) or ("", ""))[1]
        for option in command.params
        if isinstance(option, click.Option)
    ]
    assert [text for text in described if "env var: DYNAMO_" not in text] == []


@pytest.mark.parametrize("name", dynamo.list_commands(_GROUP))
def test_help_fits_a_screen_and_has_examples(name: str) -> None:
    page = answer(name, "--help", env={"COLUMNS": "80"}).stdout
    assert len(page.splitlines()) <= 40
    examples = page.partition("  Examples:\n")[2].partition("\n\n")[0].splitlines()
    assert len(examples) >= 2 and all("dynamo " in line for line in examples)
    if isinstance(dynamo.get_command(_GROUP, name), CommandWithHelp):
        assert "Documentation: " in page and "env var" not in page
        in_full = answer(name, "--help-all").stdout
        assert "--help-all" in in_full and len(in_full) >= len(page)


def test_only_the_page_in_full_has_what_is_shared() -> None:
    for option in ("--frame", "--loop-limit", "--override"):
        assert option not in answer("explain", "--help").stdout
        assert option in answer("explain", "--help-all").stdout
    assert "--loop-limit" not in answer("run", "--help").stdout
    assert "--backend" in answer("run", "--help").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["explian"], 2, "did you mean 'explain'?"),
        (["graphs", "RECORDING", "--stage", "postgrad"], 2, "did you mean 'post-grad'?"),
        (["graphs", "RECORDING", "--stage", "nothing"], 2, "stages are dynamo, "),
        (["profile", "RECORDING", "--step", "nothing"], 119, "called nothing, so --step names none"),
        (["profile", "RECORDING", "--step", "toy_exmaple"], 119, "did you mean 'toy_example'?"),
        (["profile", "RECORDING", "--step", "nothing", "--format", "json"], 119, "--step names none"),
        (["explain", "RECORDING", "-o", "x.xyz"], 2, "no format has this ending (known are .txt, "),
        (["explain", "RECORDING", "-o", "x.jsn"], 2, "did you mean '.json'?"),
        (["explain", "RECORDING", "-o", "train.py"], 2, "no format has this ending"),
    ],
)
def test_what_is_mistyped_is_an_error_and_not_a_fact(
    arguments: list[str], code: int, says: str, tmp_path: Path
) -> None:
    told = [str(stored("toy")) if argument == "RECORDING" else argument for argument in arguments]
    result = answer(*told, cwd=tmp_path)
    assert (result.exit_code, result.stdout, says in result.stderr) == (code, "", True), result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [["-o", "x.xyz", "--format", "text"], ["-o", "x"], ["-o", "x.2"]])
def test_any_name_will_do_where_it_says_no_other_format(arguments: list[str], tmp_path: Path) -> None:
    assert answer("breaks", stored("toy"), *arguments, cwd=tmp_path).exit_code == 0
    assert "graph break" in (tmp_path / arguments[1]).read_text()


def test_an_option_is_taken_from_the_environment() -> None:
    shown = answer("graphs", stored("toy"), "--graph", "1", env={"DYNAMO_GRAPHS_STYLE": "code"}).stdout
    assert "class GraphModule(torch.nn.Module):" in shown


def test_a_form_of_another_command_is_passed_over_and_an_unknown_one_is_not() -> None:
    assert answer("explain", stored("toy"), env={"DYNAMO_FORMAT": "csv"}).exit_code == 0
    unknown = answer("explain", stored("toy"), env={"DYNAMO_FORMAT": "cvs"})
    assert unknown.exit_code == 2
    assert "'cvs' is not one of" in unknown.stderr


def test_verify_can_be_off_for_every_command() -> None:
    assert answer("explain", stored("toy"), env={"DYNAMO_VERIFY": "off"}).exit_code == 0
