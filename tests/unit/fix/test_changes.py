"""A remedy's change as edits: what two findings ask for at one place is done once."""

import pytest

from dynamo_core.fix.changes import source_change
from dynamo_core.model import Place
from dynamo_core.remedies.rules import Assignment, Change

PLACE = Place("/home/me/train.py", 3)


@pytest.mark.parametrize(
    "asked",
    [
        lambda: Change(edit="made first", operand="scale"),
        lambda: Change(edit="statement removed"),
        lambda: Change(arguments=(Assignment("dynamic", "True"),)),
    ],
)
def test_equal_changes_at_one_place_are_one(asked: object) -> None:
    first, second = (source_change(PLACE, asked(), [PLACE]) for _ in range(2))  # type: ignore[operator]
    assert first.lines
    assert first == second
