"""`--budget`: never more than so many tokens, and the most valuable first."""

import json
from typing import Any

import pytest

from dynamo_reporters.registry import OF_RECORDINGS
from support.answering import answer
from support.schemas import validate
from support.stored import NAMES, stored

RECORDINGS = ["toy", "twenty_breaks", "transformer", "planted", "ranks_that_recompile"]


def fitting(report: str, recording: str, tokens: int, form: str) -> str:
    result = answer(report, stored(recording), "--format", form, "--budget", str(tokens))
    assert (result.exit_code, result.stderr) == (0, ""), result.stderr
    assert len(result.stdout) <= 4 * tokens
    return result.stdout


@pytest.mark.parametrize("recording", RECORDINGS)
@pytest.mark.parametrize("report", OF_RECORDINGS)
def test_each_report_keeps_it_in_each_form(report: str, recording: str) -> None:
    for tokens in (500, 1000, 4000):
        for form in ("text", "markdown"):
            fitting(report, recording, tokens, form)
        document = json.loads(fitting(report, recording, tokens, "json"))
        validate(document)
        assert document["next"]


@pytest.mark.parametrize("recording", [name for name in NAMES if name != "killed"])
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
    *kept, last = fitting("breaks", "twenty_breaks", 500, "text").splitlines()
    assert kept == lines[: len(kept)] and last == f"… {len(lines) - len(kept)} more lines: without --budget"


def test_what_fits_is_whole() -> None:
    whole = json.loads(answer("explain", stored("toy"), "--json").stdout)
    assert json.loads(fitting("explain", "toy", 100_000, "json")) == whole
    assert fitting("explain", "toy", 100_000, "text") == answer("explain", stored("toy")).stdout


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
