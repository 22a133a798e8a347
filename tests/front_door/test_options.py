"""Each option can be given by an environment variable; one meant for another command harms none."""

import click
import pytest

from answering import answer
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
