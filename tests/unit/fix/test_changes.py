"""A remedy's change as edits: what two findings ask for at one place is done once."""

from pathlib import Path

import pytest

from dynamo_core.fix.changes import source_change, why_not_edited
from dynamo_core.launch.program import Program
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


def test_why_a_line_is_not_edited(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("x = 1\n")
    program = Program((str(script),), is_python=True)
    assert why_not_edited(program, Place(str(script), 1)).startswith("the line is not of the form")
    elsewhere = "the line is not in the program's own files"
    assert [why_not_edited(program, each) for each in (PLACE, None)] == [elsewhere, elsewhere]
