"""`dynamo explain` on one screen, and the actions that it begins with, on stored recordings."""

import re

import pytest

from support.answering import answer
from support.documents import document
from support.stored import NAMES, plain, stored

_ANSI = re.compile(r"\x1b\[[0-9;]*m")


def drawn(name: str, *options: str) -> list[str]:
    """The page on a terminal of 100 columns."""
    env = {"FORCE_COLOR": "1", "COLUMNS": "100"}
    path = plain(name.removeprefix("plain ")) if name.startswith("plain ") else stored(name)
    return _ANSI.sub("", answer("explain", path, *options, env=env).stdout).splitlines()


@pytest.mark.parametrize("name", [*NAMES, "plain recompiling", "plain planted"])
def test_every_recording_fits_one_screen(name: str) -> None:
    lines = drawn(name)
    assert len(lines) <= 40 and max(map(len, lines)) <= 100


@pytest.mark.parametrize("name", NAMES)
def test_each_finding_is_cured_by_one_action_or_is_context(name: str) -> None:
    told = document("explain", stored(name))
    known = [each["identity"] for each in told["findings"]]
    cured = [identity for action in told["actions"] for identity in action["cures"]]
    assert sorted([*cured, *told["context"]]) == sorted(known)
    assert [action["number"] for action in told["actions"]] == list(range(1, len(told["actions"]) + 1))
    for action in told["actions"]:
        assert all(set(other["cures"]) <= set(action["cures"]) for other in action["alternatives"])
        assert action["tried"] is None


def test_twenty_items_in_one_forward_are_one_action() -> None:
    """`hugging_face_breaks` has 20 calls of `.item()`, in 22 findings."""
    told = document("explain", stored("hugging_face_breaks"))
    assert len(told["findings"]) == 22
    (action,) = told["actions"]
    assert len(action["cures"]) == action["times"]["graph break"] == 20
    (variable,) = action["remedy"]["change"]["environment"]
    assert variable == {"name": "TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS", "value": "1"}
    (edit,) = action["alternatives"]
    assert edit["remedy"]["change"]["edit"] == "item kept a tensor" and edit["cures"] == action["cures"]
    lines = drawn("hugging_face_breaks")
    at = lines.index("Do first")
    assert lines[at + 1 : at + 4] == [
        "  1. set `TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS=1`",
        "     20 graph breaks at /home/user/hugging_face_breaks.py:19-23, 25-29, 31-35, 37-41",
        "     or leave out `.item()` (or `float`, `int`), and calculate with the tensor.",
    ]
    assert len(lines) <= 26 and len(drawn("hugging_face_breaks", "--all")) > 100


def test_what_may_not_pay_back_names_the_command_that_measures_it() -> None:
    def said_of(name: str) -> str:
        lines = drawn(name)
        (at,) = (at for at, line in enumerate(lines) if line.startswith("  - compiling took"))
        return f"{lines[at]} {lines[at + 1].strip()}"

    assert said_of("twenty_breaks").endswith(
        "; it pays back in this run only if they are more than 1,319 times as fast as eager (`dynamo bench`)"
    )
    assert said_of("hugging_face_breaks").endswith(
        "; it cannot pay back: the backend `aot_eager`, for debugging, generates no code (`dynamo bench`)"
    )


def test_sizes_met_again_behind_a_break_are_one_action() -> None:
    told = document("explain", stored("planted"))
    (first,) = (each for each in told["actions"] if "recompile" in each["times"])
    assert (first["times"], len(first["cures"])) == ({"recompile": 4}, 4)
    (argument,) = first["remedy"]["change"]["arguments"]
    assert argument == {"name": "dynamic", "value": "True"}
    saved = sum(
        each["cost"]["saves_at_most"]["seconds"]
        for each in told["findings"]
        if each["identity"] in first["cures"]
    )
    assert first["saves_at_most"] == {"seconds": pytest.approx(saved), "known": "measured"}


def test_a_variable_that_two_findings_ask_for_is_set_once() -> None:
    told = document("explain", stored("recompiling"))
    asked = [
        each["value"]
        for action in told["actions"]
        for each in ((action["remedy"] or {}).get("change") or {"environment": []})["environment"]
    ]
    assert asked == ["L['self'].step,L['x']:0"]


def test_markdown_has_the_same_actions() -> None:
    page = answer("explain", stored("hugging_face_breaks"), "--format", "markdown").stdout
    assert "## Do first\n\n**1\\. set `TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS=1`**" in page
