"""`--budget`: never more than so many tokens, and the most valuable first."""

import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from dynamo_cli.report_output import Output, write_report
from dynamo_core.case import Case
from dynamo_core.recording.read import read
from dynamo_reporters.explain.report import report as explain_report
from dynamo_reporters.ops import report as ops_report
from dynamo_reporters.registry import OF_RECORDINGS
from dynamo_reporters.report import Report
from support.answering import answer
from support.cases import one_in
from support.schemas import validate
from support.stored import NAMES, stored

WITHOUT_A_CASE: list[tuple[str | Path, ...]] = [
    ("check", stored("twenty_breaks")),
    ("diff", stored("recompiling"), stored("twenty_breaks")),
    ("cache", stored("cache_first"), stored("cache_changed")),
    ("cache", "--store", stored("toy")),
    ("export", stored("exported")),
]


def fitting(report: str, recording: str, tokens: int, form: str) -> str:
    return fitting_answer((report, stored(recording)), tokens, form)


def fitting_answer(words: Sequence[str | Path], tokens: int, form: str) -> str:
    result = answer(*words, "--format", form, "--budget", str(tokens))
    assert result.exit_code in (0, 110), result.stderr
    assert len(result.stdout) <= 4 * tokens
    return result.stdout


@pytest.mark.parametrize("words", WITHOUT_A_CASE + [(report, stored("planted")) for report in OF_RECORDINGS])
def test_each_command_keeps_it_in_each_form(words: Sequence[str | Path]) -> None:
    """`test_every_report.py` bounds every report of every stored recording."""
    for tokens in (500, 1000):
        for form in ("text", "markdown"):
            fitting_answer(words, tokens, form)
        validate(json.loads(fitting_answer(words, tokens, "json")))


@pytest.mark.parametrize("recording", one_in(2, [name for name in NAMES if name != "killed"]))
def test_the_first_action_is_always_there(recording: str) -> None:
    whole: dict[str, Any] = json.loads(answer("explain", stored(recording), "--json").stdout)
    document = json.loads(fitting("explain", recording, 500, "json"))
    validate(document)
    assert [each["cures"][:1] for each in document["actions"][:1]] == [
        each["cures"][:1] for each in whole["actions"][:1]
    ]
    text = fitting("explain", recording, 500, "text")
    assert ("  1. " in text) == bool(whole["actions"])


def test_what_is_left_out_is_counted() -> None:
    whole = json.loads(answer("breaks", stored("twenty_breaks"), "--json").stdout)
    document = json.loads(fitting("breaks", "twenty_breaks", 1000, "json"))
    assert "omitted" not in whole
    assert document["omitted"]["breaks"] >= len(whole["breaks"]) - len(document["breaks"]) > 0
    lines = answer("breaks", stored("twenty_breaks")).stdout.splitlines()
    *kept, left_out, following = fitting("breaks", "twenty_breaks", 500, "text").splitlines()
    assert kept == lines[: len(kept)]
    assert left_out == (
        f"… {len(lines) - len(kept)} lines are left out for --budget; without it, all are shown"
    )
    path = stored("twenty_breaks")
    assert following == (
        f"- next: `dynamo-cli explain {path}`: what to do first, and what it saves; only reads"
    )


def test_what_fits_is_whole() -> None:
    whole = json.loads(answer("explain", stored("toy"), "--json").stdout)
    assert json.loads(fitting("explain", "toy", 100_000, "json")) == whole
    assert fitting("breaks", "toy", 100_000, "text").startswith(answer("breaks", stored("toy")).stdout)
    _, *following = fitting("explain", "toy", 100_000, "text").partition("- next: ")
    assert "".join(following).count("\n") == len(whole["next"]) == 3
    assert [f"`{each['command']}`: {each['shows']}" in "".join(following) for each in whole["next"]] == [
        True
    ] * 3


def test_the_source_around_the_first_action_spares_opening_the_file() -> None:
    lines = fitting("explain", "toy", 1000, "text").splitlines()
    marked = lines.index("  ❱  8     if b.sum() < 0:")
    assert lines[marked - 1] == "     7     x = a / (torch.abs(a) + 1)"
    assert "Run" not in lines, "what to do is the answer"
    document = json.loads(fitting("explain", "toy", 1000, "json"))
    shown = document["excerpt"]
    assert shown["text"].splitlines()[8 - shown["first_line"]] == "    if b.sum() < 0:"


def test_too_few_tokens_for_a_document_are_one_line() -> None:
    result = answer("explain", stored("toy"), "--json", "--budget", "20")
    assert (result.exit_code, json.loads(result.stdout)["schema"]) == (2, "dynamo-error")
    assert "20 tokens are too few: it has " in result.stderr
    assert answer("explain", stored("toy"), "--json", env={"DYNAMO_BUDGET": "20"}).exit_code == 2


def test_a_page_has_no_budget() -> None:
    result = answer("explain", stored("toy"), "--format", "html", "--budget", "1000")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--budget is for text, markdown, json: not with --format html" in result.stderr
    assert answer("explain", stored("toy"), "--format", "html", env={"DYNAMO_BUDGET": "1000"}).exit_code == 0


def test_the_project_sets_it_for_recordings_too(tmp_path: Path) -> None:
    project = tmp_path / "pyproject.toml"
    project.write_text("[tool.dynamo]\nbudget = 200\n")
    bounded = answer("explain", stored("toy"), cwd=tmp_path)
    assert (len(bounded.stdout) <= 800, bounded.stderr) == (True, "")
    more = answer("explain", stored("toy"), "--budget", "100000", cwd=tmp_path).stdout
    assert len(more) > 800
    assert answer("explain", stored("toy"), cwd=tmp_path, env={"DYNAMO_BUDGET": "100000"}).stdout == more
    assert answer("explain", stored("toy"), "-o", "page.html", cwd=tmp_path).exit_code == 0
    project.write_text("[tool.dynamo]\nbudget = 'much'\n")
    result = answer("explain", stored("toy"), cwd=tmp_path)
    assert (result.exit_code, result.stdout) == (109, "")
    assert "pyproject.toml: [tool.dynamo] budget: 'much' is not a valid integer" in result.stderr


@pytest.mark.parametrize(("report", "is_followed"), [(ops_report(), True), (explain_report(), False)])
def test_a_terminal_shows_what_to_go_on_with(
    report: Report[Case], is_followed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdout", terminal)
    write_report(report, Case(read(stored("toy"), report.contents)), Output("text"))
    assert ("next: `dynamo-cli explain" in terminal.getvalue()) == is_followed
