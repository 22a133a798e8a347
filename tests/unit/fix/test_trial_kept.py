"""What `dynamo fix` keeps: the edits that hold together, without lines that no run has tried."""

from dataclasses import replace

import pytest

from dynamo_core.findings import Remedy, find
from dynamo_core.fix.trial import Fix, Fixes, Patch, Trial, Verdict
from dynamo_core.remedies.rules import Assignment, Change
from support.made import of_one_process
from support.made_findings import a_break

SETTING = Change(settings=(Assignment("torch._dynamo.config.verbose", "True"),))
EDIT = Change(edit="statement removed")
PATCH = Patch("a.py", "before", "after")
(FINDING,) = find(of_one_process(breaks=[a_break()]))


def trial(change: Change | None, verdict: Verdict = "cures") -> Trial:
    return Trial(Remedy("setting", "do it", "explain", change), verdict, "", 1, 0, (), (PATCH,))


def fix_of(change: Change | None) -> Fix:
    other, kept = trial(None, "is slower"), trial(change)
    return Fix(1, FINDING, [other, kept], kept)


def test_the_lines_of_settings_that_no_last_run_has_tried_are_dropped_and_edits_are_not() -> None:
    fixes = [fix_of(SETTING), fix_of(EDIT), Fix(3, FINDING)]
    Fixes("program", (), fixes).withdraw_lines_that_never_ran()
    assert [None if fix.kept is None else fix.kept.patches for fix in fixes] == [(), (PATCH,), None]
    assert [fix.trials[-1] is fix.kept for fix in fixes[:2]] == [True, True]
    assert all(fix.trials[0].patches == (PATCH,) for fix in fixes[:2])


def test_what_a_last_run_has_tried_stays() -> None:
    fixes = [fix_of(SETTING)]
    Fixes("program", (), fixes, together=trial(None)).withdraw_lines_that_never_ran()
    assert fixes[0].kept is not None and fixes[0].kept.patches == (PATCH,)


@pytest.mark.parametrize(("verdict", "kept"), [("cures", (PATCH,)), ("helps", (PATCH,)), ("is slower", ())])
def test_edits_are_kept_that_do_no_harm_together(verdict: Verdict, kept: tuple[Patch, ...]) -> None:
    together = replace(trial(None), verdict=verdict)
    assert Fixes("program", (), [], together=together).patches == kept
    assert Fixes("program", (), []).patches == ()


def test_what_is_withdrawn_cures_nothing_else() -> None:
    fix, stays = fix_of(EDIT), fix_of(EDIT)
    others = [Fix(2, FINDING, cured_by=fix), Fix(3, FINDING, cured_by=stays)]
    found = Fixes("program", (), [fix, stays, *others])
    assert found.with_what_they_cure([fix]) == [fix, others[0]]
    found.withdraw(fix, "changes the output", "it prints less")
    assert [each.is_proven for each in found.fixes] == [False, True, False, True]
    assert (fix.trials[-1].verdict, fix.trials[-1].reason) == ("changes the output", "it prints less")
