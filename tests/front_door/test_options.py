"""Each option can be given by an environment variable; one meant for another command harms none."""

import re
import shlex
from pathlib import Path

import click
import pytest

from dynamo_cli import report_output
from dynamo_cli.help_pages import CommandWithHelp
from dynamo_cli.main import dynamo
from dynamo_cli.program import options_with_value
from dynamo_core.launch.program import split_command_line
from dynamo_reporters.registry import REPORTS
from support.answering import answer
from support.stored import stored

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


def test_an_option_whose_value_may_be_left_out_shows_where_it_stands() -> None:
    assert "--verify[=report|error|bitwise|off]" in answer("run", "--help").stdout


@pytest.mark.parametrize("name", dynamo.list_commands(_GROUP))
def test_help_fits_a_screen_and_has_examples(name: str) -> None:
    page = answer(name, "--help", env={"COLUMNS": "80"}).stdout
    assert len(page.splitlines()) <= 40
    examples = page.partition("  Examples:\n")[2].partition("\n\n")[0].splitlines()
    assert len(examples) >= 2 and all("dynamo " in line or "dynamo-cli " in line for line in examples)
    if isinstance(dynamo.get_command(_GROUP, name), CommandWithHelp):
        assert "Documentation: " in page and "env var" not in page
        in_full = answer(name, "--help-all").stdout
        assert "--help-all" in in_full and len(in_full) >= len(page)


def _options_in_examples(name: str, command: click.Command, page: str) -> set[str]:
    """Those that are dynamo's, and no option of the program or of a command beside it."""
    examples = page.partition("  Examples:\n")[2].partition("\n\n")[0]
    words = [shlex.split(text) for text in re.findall(rf"dynamo {name} ((?:[^|;)> ]| (?! ))*)", examples)]
    own = [split_command_line(each, options_with_value(command))[0] for each in words]
    return {word.partition("=")[0] for each in own for word in each if word.startswith("-")}


@pytest.mark.parametrize("page", ["--help", "--help-all"])
@pytest.mark.parametrize("name", dynamo.list_commands(_GROUP))
def test_examples_have_only_options_that_the_page_lists(name: str, page: str) -> None:
    command = dynamo.get_command(_GROUP, name)
    assert command is not None
    text = answer(name, page, env={"COLUMNS": "80"}).stdout
    listed = re.findall(r"(?<![\w-])--?[a-z][\w-]*", text.partition("Options:\n")[2])
    assert _options_in_examples(name, command, text) <= {*listed}


def test_an_option_that_an_example_needs_is_on_the_short_page() -> None:
    assert "--frame NAME" in answer("guards", "--help").stdout


def test_the_address_of_the_documentation_is_not_wrapped() -> None:
    for arguments in (["--help"], ["explain", "--help"], ["explain", "--help-all"]):
        last = answer(*arguments, env={"COLUMNS": "60"}).stdout.splitlines()[-1]
        assert re.fullmatch(r"Documentation: https://\S+/index\.md", last)


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


@pytest.mark.parametrize("name", [name for name, report in REPORTS.items() if report.summary])
def test_json_is_short_for_a_format_of_every_report(name: str) -> None:
    command = dynamo.get_command(_GROUP, name)
    assert command is not None
    operands = ["before", "after"] if name == "diff" else []
    forms = [
        command.make_context(name, [*options, *operands], parent=_GROUP).params["form"]
        for options in (["--json"], [])
    ]
    assert forms == ["json", None]


def test_json_gives_the_document_and_no_other_form_beside_it() -> None:
    short, long = (answer("breaks", stored("toy"), *form) for form in (["--json"], ["--format", "json"]))
    assert short.stdout == long.stdout and short.stdout.startswith("{")
    both = answer("breaks", stored("toy"), "--format", "text", "--json")
    assert (both.exit_code, both.stdout.startswith("{")) == (2, True)
    assert "--json is --format json: not with --format text" in both.stderr
    assert answer("breaks", stored("toy"), "--json", env={"DYNAMO_FORMAT": "markdown"}).stdout == short.stdout


def test_verify_can_be_off_for_every_command() -> None:
    assert answer("explain", stored("toy"), env={"DYNAMO_VERIFY": "off"}).exit_code == 0


def test_a_large_document_says_how_to_get_less(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answer("guards", stored("toy"), "--json").stderr == ""
    monkeypatch.setattr(report_output, "_LARGE", 1000)
    whole = answer("guards", stored("toy"), "--json")
    assert re.fullmatch(
        r"dynamo: the document has 0\.\d MB; for less: --compile-id 0/0 \(one of 3\)\n", whole.stderr
    )
    part = answer("guards", stored("toy"), "--json", "--compile-id", "0/0")
    assert part.stderr == "" and 1000 < len(part.stdout) < len(whole.stdout)
    assert answer("guards", stored("toy")).stderr == ""


def test_a_large_document_of_which_no_part_can_be_asked_for_says_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("torch")  # which is asked for its backends
    monkeypatch.setattr(report_output, "_LARGE", 1000)
    assert answer("backends", "--json").stderr == ""
