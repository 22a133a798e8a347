"""`dynamo explain` on one screen: 40 lines of 100 columns, whatever is in the recording."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from dynamo_core.case import Case
from dynamo_core.findings import Cost, Evidence, Finding, Remedy
from dynamo_core.model import Frame, Place, ProcessEnd, Run
from dynamo_core.remedies.rules import Assignment, Change
from dynamo_reporters.explain.one_screen import one_screen
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.page.terminal import renderables
from dynamo_reporters.parts.actions import places_of, what_to_do
from support.made import of_one_process

LONG = "a_folder_with_a_long_name/" * 12
SETTING = Remedy(
    "environment", "set `A=1`: then it is gone", "dynamo breaks", Change(environment=(Assignment("A", "1"),))
)


def finding(line: int, *remedies: Remedy, file: str = "/home/me/model.py") -> Finding:
    return Finding(
        kind="graph break",
        identity=f"break-{line}",
        title=f"graph break at {file}:{line}",
        cause="it prints",
        effect="",
        place=Place(file, line),
        function="forward",
        source="print(x)",
        via=None,
        is_library=False,
        cost=Cost(),
        evidence=Evidence(),
        remedies=remedies,
        processes=("s.log",),
    )


def case_of(*findings: Finding, run: Run | None = None) -> Case:
    case = Case(of_one_process(run or Run(exit_code=0, command=["train.py"]), end=ProcessEnd()))
    case.found = list(findings)
    return case


def drawn(case: Case) -> list[str]:
    """The lines on a terminal of 100 columns."""
    console = Console(file=io.StringIO(), width=100, color_system=None, force_jupyter=False)
    for each in renderables(one_screen(case)):
        console.print(each)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def edits(count: int, words: int) -> list[Finding]:
    """Findings of which each has advice of its own."""
    return [
        finding(line, *(Remedy("edit", f"{line} {n} {'word ' * words}", "dynamo breaks") for n in range(3)))
        for line in range(count)
    ]


def test_a_recording_with_much_of_everything_fits() -> None:
    run = Run(
        exit_code=0, command=["python", f"{LONG}train.py", *(f"--option-{n}={LONG}" for n in range(50))]
    )
    cold = [
        replace(finding(n, SETTING), kind="cold start", identity=f"cold-{n}", title=f"nothing came {LONG}")
        for n in range(20)
    ]
    case = case_of(
        *(replace(each, title=f"{each.title} {LONG * 9}") for each in edits(100, 200)), *cold, run=run
    )
    reason = f"its graph has more than 9,999 ops (--op-limit 9999) {LONG}"
    case.recording.engine_failures += [f"{n} could not be read: {LONG * 3}" for n in range(50)]
    case.processes[0].frames += [
        Frame("f", Place(LONG, n), "skipped", reason, False, False, None) for n in range(9)
    ]
    lines = drawn(case)
    assert len(lines) <= 40 and max(map(len, lines)) <= 100
    text = " ".join(" ".join(lines).split())
    assert "1. 0 0 word" in text and "(and 1 other way)" in text
    assert "more actions; `dynamo explain --all` has all" in text
    assert "more; `dynamo explain --all` has all" in text.partition("Also")[2]
    assert "`dynamo explain --all` has 120 findings in full" in text


@pytest.mark.parametrize("words", [1, 10, 30, 100])
@pytest.mark.parametrize("count", [1, 3, 8, 30])
def test_what_is_left_out_is_counted(count: int, words: int) -> None:
    lines = drawn(case_of(*edits(count, words)))
    assert len(lines) <= 40
    shown = sum(line.lstrip()[:1].isdigit() and ". " in line[:6] for line in lines)
    (rest,) = [line for line in lines if "more action" in line] or [f"… and {count - shown} more"]
    assert rest.split()[2] == str(count - shown)


def test_an_action_says_what_to_do_what_that_cures_and_what_else_would() -> None:
    keep = Remedy("edit", "keep the tensor", "dynamo breaks")
    page = plain_text(one_screen(case_of(*(finding(line, SETTING, keep) for line in (3, 4, 5, 9)))))
    assert (
        "Do first\n  1. set `A=1`\n     4 graph breaks at /home/me/model.py:3-5, 9\n     or keep the tensor\n"
    ) in page
    assert "`dynamo explain --all` has 4 findings in full" in page


def test_what_is_true_of_any_short_run_stands_below_the_actions() -> None:
    cold = replace(finding(1), kind="cold start", identity="cold", title="nothing came from torch's caches")
    look = Remedy("command", "a second run is warm", "dynamo cache")
    page = plain_text(one_screen(case_of(replace(cold, remedies=(look,)), finding(2, SETTING))))
    assert page.index("Do first") < page.index("Also\n  - nothing came from torch's caches (`dynamo cache`)")
    alone = plain_text(one_screen(case_of(cold)))
    assert "Do first" not in alone and "Also\n  - nothing came" in alone


def test_what_has_no_remedy_says_so() -> None:
    assert "1. no remedy is known\n     graph break at /home/me/model.py:1" in plain_text(
        one_screen(case_of(finding(1)))
    )


def test_places_are_merged_by_file_and_the_first_are_shown() -> None:
    other = [finding(line, file="/home/me/loss.py") for line in (8, 7)]
    mixed = [finding(19), *other, *map(finding, (20, 21, 25, 21))]
    assert places_of(mixed) == "/home/me/model.py:19-21, 25; /home/me/loss.py:7-8"
    many = places_of([finding(line) for line in range(0, 60, 2)])
    assert many == "/home/me/model.py:0, 2, 4, 6, 8, 10, 12, 14 and 22 more lines"
    assert places_of([replace(finding(1), place=None)]) == ""


@pytest.mark.parametrize(
    ("change", "text", "said"),
    [
        (Change(environment=(Assignment("A", "1"),)), "the size varies: set it", "set `A=1`"),
        (Change(environment=(Assignment("A", "L['x']:0"),)), "it varies", "set `A=\"L['x']:0\"`"),
        (
            Change(arguments=(Assignment("dynamic", "True"),)),
            "it varies",
            "pass `dynamic=True` to `torch.compile`",
        ),
        (Change(settings=(Assignment("a.b", "1"),)), "set `a.b = 1`: then it does", "set `a.b = 1`"),
        (Change(edit="x"), "two ways: this one, or that", "two ways: this one, or that"),
        (None, "two ways: this one, or that", "two ways: this one, or that"),
    ],
)
def test_what_to_do_is_as_short_as_it_can_be_said(change: Change | None, text: str, said: str) -> None:
    assert what_to_do(Remedy("edit", text, "dynamo breaks", change)) == said
