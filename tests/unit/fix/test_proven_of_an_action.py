"""The proven fixes of an action, which `dynamo fix --apply` makes."""

import pytest

from dynamo_core.fix.proven import ProvenFix, ProvenFixes
from dynamo_core.fix.trial import Patch
from dynamo_core.remedies.rules import Assignment, Change
from dynamo_core.shared.errors import CannotApply

SETTING = Change(settings=(Assignment("name", "True"),))
EDITING = ProvenFix(1, (Patch("a.py", "before", "after"),))
SETS = ProvenFix(2, (), SETTING)
CURED_BY_ANOTHER = ProvenFix(2, ())
NOT_PROVEN = ProvenFix(3, ())
FIXES = ProvenFixes(None, (EDITING, SETS, CURED_BY_ANOTHER, NOT_PROVEN), ())


def test_an_action_has_its_edits_and_its_settings() -> None:
    assert FIXES.of_action(1) == [EDITING]
    assert FIXES.of_action(2) == [SETS]
    assert FIXES.editing == [1]


@pytest.mark.parametrize(
    ("number", "says"),
    [(3, "action 3 has no proven fix of its own"), (4, "there is no fix 4: `dynamo fix` had 1, 2, 3")],
)
def test_an_action_without_a_proven_fix_is_refused(number: int, says: str) -> None:
    with pytest.raises(CannotApply, match=says):
        FIXES.of_action(number)
    with pytest.raises(CannotApply, match="there is no fix 1: `dynamo fix` had none"):
        ProvenFixes(None, (), ()).of_action(1)
