"""The lines that `dynamo run` leaves on stderr, made of stored recordings."""

import re

import pytest

from dynamo_cli.running import summarize_run
from dynamo_core.case import Case
from dynamo_core.findings import CONTENTS
from dynamo_core.launch.process import Ending
from dynamo_core.launch.run import Outcome
from dynamo_core.recording.read import read
from dynamo_reporters.explain.report import render_end_of_run
from dynamo_reporters.parts.actions import what_is_cured, what_to_do
from support.answering import answer
from support.stored import NAMES, stored


def _lines(name: str) -> list[str]:
    return render_end_of_run(Case(read(stored(name), CONTENTS)), is_newest=True)


@pytest.mark.parametrize("name", NAMES)
def test_the_actions_are_those_of_explain_with_the_same_numbers(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    summarize_run(Outcome(stored(name), Ending(exit_code=0, signal=None)), is_default_place=False)
    case = Case(read(stored(name), CONTENTS))
    said = [line.removeprefix("dynamo:").strip() for line in capsys.readouterr().err.splitlines()]
    numbered = [line for line in said if re.match(r"\d\. ", line)]
    actions = case.actions[:5]
    assert numbered == [f"{each.number}. {what_is_cured(each, case.cured_by(each))}" for each in actions]
    advice = [line for line in said if line.startswith("→ ")]
    remedies = [what_to_do(each.remedy) for each in actions if each.remedy is not None]
    for line, remedy in zip(advice, remedies, strict=True):
        assert line == f"→ {remedy}" or (line.endswith("…") and remedy.startswith(line[2:-1]))
        assert len(line) <= 82, "one line of a terminal"
    assert [line for line in said if line.startswith("also: ")] == [
        f"also: {finding.title}" for finding in case.context
    ]


@pytest.mark.parametrize(
    ("name", "report"),
    [
        ("ranks_in_another_order", "ranks"),
        ("ranks_that_recompile", "ranks"),
        ("frozen", "recompiles"),
        ("toy", "explain"),
    ],
)
def test_what_to_type_next_is_the_report_that_answers(name: str, report: str) -> None:
    assert _lines(name)[-1] == f"next: dynamo {report}"


def test_a_sum_over_processes_says_so() -> None:
    first = _lines("ranks_in_another_order")[0]
    assert first == (
        "4 graphs, 22 ops, 0 graph breaks, 0 recompiles in 2 ranks together; compiling took 2.89 s in all, "
        "1.42 s to 1.47 s each."
    )
    assert (
        "\nCounts, 2 ranks together\n" in answer("explain", "--all", stored("ranks_in_another_order")).stdout
    )
    assert "together" not in _lines("forks")[0], "one of the two compiled"


def test_ranks_that_hang_are_said_to_wait() -> None:
    assert any("rank 0 and rank 1 wait for each other" in line for line in _lines("ranks_in_another_order"))


def test_what_a_killed_process_did_not_write_is_named() -> None:
    (missing,) = [line for line in _lines("killed") if "not seen" in line]
    assert "torch's own counters and the peak memory" in missing
    assert "(the process was killed, or called os._exit)" in missing
