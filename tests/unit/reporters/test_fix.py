"""`dynamo fix` as a page and as JSON."""

import shlex
from dataclasses import replace

import pytest

from dynamo_core.findings import Cost, Evidence, Finding, Remedy
from dynamo_core.fix.trial import Fix, Fixes, Patch, RunResult, Trial
from dynamo_core.model import Place
from dynamo_core.remedies.rules import Assignment, Change
from dynamo_reporters.fix import fix_blocks, report
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.report import document as as_json
from dynamo_reporters.report import last_lines
from support.schemas import validate

RAN = RunResult("r", 0, None, 5.0, 4.0, 0.02)
SETTING = Remedy(
    *("setting", "set `a.b = True`: then it is traced.", "dynamo breaks"),
    change=Change(settings=(Assignment("torch._dynamo.config.x", "True"),)),
    may_change="the type of an exception",
)
EDIT = Remedy("edit", "use `torch.where`", "dynamo breaks", change=Change(edit="branch to where"))
FINDING = Finding(
    kind="graph break",
    identity="graph-break-1",
    title="graph break at /home/me/a.py:3",
    cause="",
    effect="",
    place=Place("/home/me/a.py", 3),
    function="f",
    source="if x.sum() > 0:",
    via=None,
    is_library=False,
    cost=Cost(),
    evidence=Evidence(times=2),
    remedies=(SETTING, EDIT),
    processes=("p",),
)
FAILED = Trial(
    *(SETTING, "changes the output", "line 1 of its output is '2', not '1'", 2, 0),
    (replace(RAN, recording="failed"),),
)
PROVEN = Trial(
    *(EDIT, "cures", "", 2, 0, (replace(RAN, recording="proven", step_seconds=0.01),)),
    (Patch("/home/me/a.py", "a\nif x:\nb\n", "a\nwhere\nb\n"),),
)
FIRST = Fix(1, FINDING, [FAILED, PROVEN], PROVEN)
FIXES = Fixes(
    "train",
    (RAN, replace(RAN, step_seconds=0.021)),
    [
        FIRST,
        Fix(1, replace(FINDING, title="another"), cured_by=FIRST),
        Fix(3, replace(FINDING, title="a third"), [FAILED]),
        Fix(
            4,
            replace(FINDING, title="a fourth", remedies=(Remedy("edit", "do it by hand", "dynamo breaks"),)),
        ),
    ],
    together=replace(PROVEN, before=8, after=4, verdict="helps"),
    lines_compared=3,
)


def test_the_page_says_what_is_proven_what_was_tried_and_what_is_left() -> None:
    page = plain_text(fix_blocks(FIXES))
    assert "2 of 4 findings have a proven fix" in page
    assert "train ran 4 times" in page
    assert "1. /home/me/a.py:3: graph break, 2 before, 0 after, proven" in page
    assert "-if x:\n  +where" in page
    assert "dynamo fix --apply 1" in page
    assert "A step takes 10 ms; without it 20 ms to 21 ms (2.00 times as fast)." in page
    assert "set `a.b = True` — changes the output: line 1" in page
    assert "1, also: /home/me/a.py:3: cured by fix 1" in page
    assert "findings that one action cures share it" in page
    assert "3. /home/me/a.py:3: 1 remedy tried, none cures it" in page
    assert "To be done by hand: do it by hand" in page
    assert "what was found is met 4 times in place of 8" in page


def test_what_is_to_be_done_by_hand_is_said_beside_what_was_tried() -> None:
    by_hand = replace(FINDING, remedies=(Remedy("edit", "do it by hand", "dynamo breaks"), SETTING))
    page = plain_text(fix_blocks(Fixes("train", (RAN,), [Fix(1, by_hand, [FAILED])])))
    assert "1 remedy tried, none cures it" in page and "To be done by hand: do it by hand" in page
    assert "share it" not in page


def test_what_does_not_fit_was_not_tried() -> None:
    unfit = Trial(EDIT, "does not fit", "the edit does not fit the line", 2)
    page = plain_text(list(fix_blocks(Fixes("train", (RAN,), [Fix(1, FINDING, [unfit])]))))
    assert "no remedy that fits could be tried" in page
    page = plain_text(list(fix_blocks(Fixes("train", (RAN,), [Fix(1, FINDING, [unfit, FAILED])]))))
    assert "1 remedy tried, none cures it" in page


def test_a_setting_is_shown_as_it_is_typed_with_what_it_may_change() -> None:
    kept = replace(FAILED, verdict="cures")
    page = plain_text(fix_blocks(Fixes("train", (RAN,), [Fix(1, FINDING, [kept], kept)])))
    assert "dynamo run --config torch._dynamo.config.x=True" in page
    assert "It may change: the type of an exception" in page


def test_a_setting_with_quotes_in_it_is_quoted_for_the_shell() -> None:
    setting = Assignment("torch._dynamo.config.x", "'a b'")
    kept = replace(PROVEN, remedy=replace(SETTING, change=Change(settings=(setting,))))
    page = plain_text(fix_blocks(Fixes("train", (RAN,), [Fix(1, FINDING, [kept], kept)])))
    (typed,) = (line for line in page.splitlines() if "dynamo run --config" in line)
    assert shlex.split(typed)[-1] == "torch._dynamo.config.x='a b'"


@pytest.mark.parametrize(
    ("value", "typed"),
    [
        ("L['x']:0", "\"L['x']:0\""),
        ('say "x"', "'say \"x\"'"),
        ("$HOME", "'$HOME'"),
        ("`id`", "'`id`'"),
        ("a\\b", "'a\\b'"),
        ("now!", "'now!'"),
    ],
)
def test_a_variable_is_typed_so_that_a_shell_changes_nothing_in_it(value: str, typed: str) -> None:
    remedy = replace(SETTING, change=Change(environment=(Assignment("X", value),)))
    kept = replace(FAILED, verdict="cures", remedy=remedy)
    page = plain_text(fix_blocks(Fixes("train", (RAN,), [Fix(1, FINDING, [kept], kept)])))
    (line,) = (line.strip() for line in page.splitlines() if "export" in line)
    assert line == f"export X={typed}"
    assert shlex.split(line) == ["export", f"X={value}"]


def test_options_and_arguments_are_typed_as_dynamo_run_takes_them() -> None:
    change = Change(arguments=(Assignment("mode", "None"),), options=("--fullgraph",))
    kept = replace(PROVEN, remedy=replace(SETTING, change=change, may_change=""))
    page = plain_text(fix_blocks(Fixes("train", (RAN,), [Fix(1, FINDING, [kept], kept)])))
    assert "dynamo run --override mode=None" in page
    assert "dynamo run --fullgraph" in page
    assert "It may change" not in page and "export" not in page


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (0.020, "A step takes as long as before (20 ms)."),
        (0.0205, "A step takes as long as before (20.5 ms)."),
        (0.040, "A step takes 40 ms; without it 20 ms to 21 ms (0.53 times as fast)."),
        (None, None),
    ],
)
def test_a_step_is_compared_with_those_of_the_runs_without(now: float | None, said: str | None) -> None:
    kept = replace(PROVEN, runs=(replace(RAN, step_seconds=now),))
    page = plain_text(fix_blocks(replace(FIXES, fixes=[Fix(1, FINDING, [kept], kept)])))
    assert said in page if said is not None else "A step" not in page


def test_the_first_page_line_counts_what_is_proven_and_what_it_took() -> None:
    one = replace(FIXES, fixes=[FIXES.fixes[0], FIXES.fixes[2]], steps=1)
    page = plain_text(fix_blocks(one))
    assert page.startswith("1 of 2 findings has a proven fix\n")
    assert "train ran 4 times, 20.00 s in all. Each run was ended after 1 step.\n" in page
    earlier = replace(PROVEN, is_earlier=True)
    again = plain_text(fix_blocks(replace(FIXES, fixes=[Fix(1, FINDING, [earlier], earlier)])))
    assert "1 trial of an earlier `dynamo fix` counted." in again


def test_what_was_run_with_others_has_no_speed_of_its_own() -> None:
    shared = replace(PROVEN, is_shared=True)
    page = plain_text(fix_blocks(replace(FIXES, fixes=[Fix(1, FINDING, [shared], shared)])))
    alone, together = page.split("All of it together")
    assert "A step" not in alone and "A step takes 10 ms" in together


def test_together_says_what_is_left_and_how_to_keep_it() -> None:
    def said(**changed: object) -> str:
        return plain_text(fix_blocks(replace(FIXES, together=replace(PROVEN, **changed))))  # type: ignore[arg-type]

    assert "nothing is left, the same output, the same ending" in " ".join(said().split())
    assert "with `--patch FILE` writes them as one patch" in said()
    assert "The run with all that is kept does not run." in said(verdict="does not run")
    assert "All of it together" not in plain_text(fix_blocks(replace(FIXES, together=None)))


def test_what_was_not_tried_is_said_and_together_is_no_success_where_it_is_none() -> None:
    disagrees = replace(PROVEN, verdict="disagrees with eager", reason="graph 1 differs")
    stopped = replace(FIXES, stopped="the 40 runs of --most-runs are done", together=disagrees)
    page = plain_text(fix_blocks(stopped))
    assert "Not everything was tried: the 40 runs of --most-runs are done." in page
    assert "The run with all that is kept disagrees with eager: graph 1 differs." in page
    assert "2 of 4 findings have a fix that is proven by itself, but not together" in page
    assert "--patch" not in page and stopped.patches == ()
    assert "Nothing to fix" in plain_text(fix_blocks(Fixes("train", (RAN,))))
    advised = plain_text(fix_blocks(Fixes("train", (RAN,), by_hand=("leave `inverse` out",))))
    assert advised.startswith("Nothing to fix: no graph breaks") and "by hand" in advised
    assert "- leave `inverse` out" in advised
    left = plain_text(fix_blocks(replace(stopped, fixes=[Fix(1, FINDING)])))
    assert "1. /home/me/a.py:3: not tried" in left and "What was to be tried: set `a.b = True`" in left
    unseen = plain_text(fix_blocks(Fixes("train", (RAN,), unseen=("graph break",))))
    assert "Nothing was found to fix, but this could not be recorded: graph break" in unseen


def test_of_a_program_that_prints_nothing_no_output_is_called_the_same() -> None:
    assert "the same output" in plain_text(fix_blocks(FIXES))
    page = plain_text(fix_blocks(replace(FIXES, lines_compared=0)))
    assert "the same output" not in page
    assert "only its ending could be compared" in " ".join(page.split())


def test_the_document_is_as_its_schema_says() -> None:
    document = as_json(report(), FIXES)
    validate(document)
    first, second, third, _ = document["fixes"]
    assert [each["number"] for each in document["fixes"]] == [1, 1, 3, 4]
    assert (first["kept"], first["is_proven"], second["cured_by"], third["is_proven"]) == (1, True, 1, False)
    assert "-if x:\n+where\n" in first["trials"][1]["patch"]
    assert (document["together"]["verdict"], document["together"]["after"]) == ("helps", 4)
    assert [each["command"] for each in document["next"]] == ["dynamo-cli fix --apply all"]
    assert "edits files" in plain_text(last_lines(report(), FIXES))
    without = as_json(report(), replace(FIXES, together=None))
    assert (without["together"], without["next"]) == (None, [])


def test_what_was_withdrawn_is_said_with_its_reason() -> None:
    first = Fix(1, FINDING, [FAILED, PROVEN], PROVEN)
    fixes = Fixes("train", (RAN,), [first, Fix(2, FINDING, cured_by=first)], PROVEN)
    fixes.withdraw(fixes.fixes[0], "disagrees with eager", "graph 1 differs")
    page = plain_text(fix_blocks(fixes))
    assert "0 of 2 findings have a proven fix" in page
    assert "use `torch.where` — disagrees with eager: graph 1 differs" in page
    assert "proven\n" not in page.split("\n", 1)[1]


def test_of_a_program_that_crashed_the_ending_is_said() -> None:
    gone = replace(PROVEN, reason="the program ends with exit code 0 instead of exit code 1")
    page = plain_text(fix_blocks(Fixes("train", (RAN,), [Fix(1, FINDING, [gone], gone)], gone)))
    assert "With it the program ends with exit code 0 instead of exit code 1." in page
    assert "the same ending" not in page


def test_without_the_last_run_only_edits_can_be_applied() -> None:
    setting = replace(PROVEN, remedy=SETTING)
    fixes = Fixes("train", (RAN,), [Fix(1, FINDING, [setting], setting), Fix(2, FINDING, [PROVEN], PROVEN)])
    fixes.withdraw_lines_that_never_ran()
    assert [fix.kept.patches != () for fix in fixes.fixes if fix.kept] == [False, True]
    assert fixes.fixes[0].kept in fixes.fixes[0].trials


def test_a_variable_that_two_fixes_set_is_given_once_with_both_values() -> None:
    """The second `export` would undo the first."""
    name = "TORCH_COMPILE_DYNAMIC_SOURCES"
    changes = [Change(environment=(Assignment(name, value),)) for value in ("L['x']:0", "L['y']:0")]
    remedies = [Remedy("environment", "set it", "dynamo recompiles", change=change) for change in changes]
    trials = [Trial(remedy, "cures", "", 2, 0, (RAN,)) for remedy in remedies]
    fixes = Fixes("train", (RAN,), [Fix(1, FINDING, [each], each) for each in trials])
    page = plain_text(fix_blocks(fixes))
    assert page.count(f"export {name}=\"L['x']:0,L['y']:0\"  # one variable for all") == 2


def test_a_remedy_that_was_tried_is_named_by_what_to_type_not_by_the_cause_before_it() -> None:
    change = Change(arguments=(Assignment("dynamic", "True"),))
    remedy = Remedy("argument", "`x` takes several sizes: one version serves all.", "check", change=change)
    tried = replace(FIXES, fixes=[Fix(1, FINDING, [replace(FAILED, remedy=remedy)])])
    assert "- pass `dynamic=True` to `torch.compile` — changes the output" in plain_text(fix_blocks(tried))
