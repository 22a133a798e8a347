"""Whatever is wrong with a command line or a path: one line that says what, and the exit code of its kind."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from support.answering import Result, answer
from support.schemas import validate
from support.stored import stored

NO_FIT, CANNOT_WRITE, NO_TRACE, NOT_THERE, NO_PROGRAM, USAGE = 119, 120, 121, 123, 127, 2
OF_TOY = [
    ("guards --frame nope", NO_FIT, "nothing in the recording fits --frame nope; frames: toy_example"),
    ("explain --compile-id 7/7", NO_FIT, "fits --compile-id 7/7; compiles: 0/0, 1/0, 2/0"),
    ("explain --rank 3", NO_FIT, "no rank is recorded in it"),
    ("profile --step nothing", NO_FIT, "so --step names none"),
    ("graphs --graph 9", NO_FIT, "--graph 9"),
    ("graphs --runnable 9", NO_FIT, "there is no graph 9"),
    ("graphs --runnable 1 --backward", NO_FIT, "no program is recorded for the backward of graph 1"),
    ("breaks -o missing/report.md", CANNOT_WRITE, "cannot write missing/report.md: No such file"),
    ("profile -o missing/x.json", CANNOT_WRITE, "cannot write missing/x.json: No such file"),
    ("explain --graph x", USAGE, "'x' is not a valid integer"),
    ("explain --nope", USAGE, "--nope"),
    ("explain --format pdf", USAGE, "'pdf' is not one of"),
    ("breaks --format chrome", USAGE, "'chrome' is not one of"),
    ("bytecode --diff --source", USAGE, "--diff and --source cannot be combined"),
    ("graphs --backward", USAGE, "--backward goes with --runnable"),
    ("graphs --runnable 1 --save x", USAGE, "--runnable gives one program"),
    ("graphs --style dot --stage aot", USAGE, "--style is of Dynamo's graphs"),
    ("graphs --training --style code", USAGE, "--training is a table of its own"),
]


@pytest.mark.parametrize(("line", "exit_code", "says"), OF_TOY, ids=[line for line, *_ in OF_TOY])
def test_one_line(line: str, exit_code: int, says: str, tmp_path: Path) -> None:
    result = answer(*line.split(), stored("toy"), cwd=tmp_path)
    assert (result.exit_code, result.stdout) == (exit_code, "")
    assert says in result.stderr
    assert result.stderr.startswith("dynamo: ") and result.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "exit_code", "says"),
    [
        (["explain", "nowhere"], NOT_THERE, "there is no recording and no program at nowhere"),
        (["explain"], NOT_THERE, "dynamo run"),
        (["ls", "nowhere"], NOT_THERE, "no such folder: nowhere"),
        (["explain", "notes.txt"], NO_TRACE, "notes.txt"),
        (["explain", "."], NO_TRACE, "holds neither"),
        (["explai"], USAGE, "did you mean 'explain'?"),
        (["train.py"], USAGE, "try `dynamo run train.py`"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_target_that_is_none(arguments: list[str], exit_code: int, says: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("loss 2.5\n")
    result = answer(*arguments, cwd=tmp_path)
    assert (result.exit_code, result.stdout) == (exit_code, "")
    assert says in result.stderr and result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "exit_code", "says"),
    [
        ("explain trian.py", NOT_THERE, "at trian.py; did you mean 'train.py'?"),
        ("explain sub/modle.py", NOT_THERE, "at sub/modle.py; did you mean 'sub/model.py'?"),
        ("explain train-20260101-12000", NOT_THERE, "did you mean '.dynamo/train-20260101-120000'?"),
        ("diff .dynamo/train-20260101-1200 a", NOT_THERE, "did you mean '.dynamo/train-20260101-120000'?"),
        ("graphs 2", NOT_THERE, "one graph is picked out by `--graph 2`"),
        ("guards 0/1", NOT_THERE, "one compile is picked out by `--compile-id 0/1`"),
        ("run trian.py", NO_PROGRAM, "no such file: trian.py; did you mean 'train.py'?"),
    ],
)
def test_a_mistyped_target_is_answered_with_what_was_meant(
    arguments: str, exit_code: int, says: str, tmp_path: Path
) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("train.py", "sub/model.py"):
        (tmp_path / name).touch()
    shutil.copytree(stored("toy"), tmp_path / ".dynamo/train-20260101-120000")
    result = answer(*arguments.split(), cwd=tmp_path)
    assert (result.exit_code, result.stdout) == (exit_code, "")
    assert says in result.stderr and result.stderr.count("\n") == 1


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    result = answer("graphs", stored("toy"), "--save", "/proc/self/nothing")
    assert (result.exit_code, result.stdout) == (CANNOT_WRITE, "")
    assert result.stderr.startswith("dynamo: cannot write /proc/self/nothing: ")


def test_a_command_without_a_name_says_what_there_is() -> None:
    result = answer()
    assert (result.exit_code, result.stdout) == (USAGE, "")
    assert result.stderr.startswith("Usage: dynamo")


def error_of(result: Result) -> dict[str, Any]:
    """The document on stdout, which says the same as the line on stderr."""
    document: dict[str, Any] = json.loads(result.stdout)
    validate(document)
    assert (document["schema"], document["code"]) == ("dynamo-error", result.exit_code)
    line = "; ".join(filter(None, (document["what"], document["what_to_do"])))
    assert result.stderr == f"dynamo: {line}\n"
    return document


@pytest.mark.parametrize(("line", "exit_code", "says"), OF_TOY, ids=[line for line, *_ in OF_TOY])
def test_a_document_where_json_is_asked_for(line: str, exit_code: int, says: str, tmp_path: Path) -> None:
    error = error_of(answer(*line.split(), "--json", stored("toy"), cwd=tmp_path))
    assert error["code"] == exit_code
    assert error["where"].startswith(f"dynamo {line.split()[0]}")


@pytest.mark.parametrize(
    ("arguments", "where", "what_to_do"),
    [
        ("explai --json", "dynamo", "did you mean 'explain'?"),
        ("explain --nope --format json nowhere", "dynamo explain --nope", None),
        ("explain --graph x --format=json nowhere", "dynamo explain --graph", None),
        ("explain nowhere --json", "dynamo explain", None),
        ("guards --json", "dynamo guards", "make one with `dynamo run SCRIPT`, or name one"),
        ("check --json nowhere.py", "dynamo check", None),
        ("diff --json a b", "dynamo diff", None),
        ("backends --json --python nowhere", "dynamo backends", None),
    ],
)
def test_where_it_is_and_what_to_do(
    arguments: str, where: str, what_to_do: str | None, tmp_path: Path
) -> None:
    error = error_of(answer(*arguments.split(), cwd=tmp_path))
    assert (error["where"], error["what_to_do"]) == (where, what_to_do)


def test_the_environment_asks_for_json_of_commands_that_have_it(tmp_path: Path) -> None:
    in_json = {"DYNAMO_FORMAT": "json"}
    assert error_of(answer("explain", "nowhere", env=in_json))["code"] == NOT_THERE
    assert answer("explain", "nowhere", "--format", "text", env=in_json).stdout == ""
    assert answer("run", "nowhere.py", env=in_json, cwd=tmp_path).stdout == ""


def test_what_stands_behind_a_program_is_the_programs(tmp_path: Path) -> None:
    (tmp_path / "program.py").touch()
    for options in (["run", "nowhere.py"], ["explain", "--capture", "nope", "program.py"]):
        assert answer(*options, "--json", cwd=tmp_path).stdout == ""


def test_after_a_report_there_is_no_second_document(tmp_path: Path) -> None:
    result = answer("check", "--json", "--max-graphs", "0", stored("toy"), cwd=tmp_path)
    assert (result.exit_code, json.loads(result.stdout)["schema"]) == (112, "dynamo-check")
    assert result.stderr.endswith("got worse: graphs: 3, at most 0 allowed, and 1 more\n")
