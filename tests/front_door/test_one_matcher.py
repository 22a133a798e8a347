"""`dynamo check`, `dynamo diff` and `dynamo fix` pair the findings of two recordings in the same way."""

from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from dynamo_core.compare import CONTENTS, compare
from dynamo_core.compare.lock import check
from dynamo_core.compare.lock_file import facts_of
from dynamo_core.findings import OF_THE_COMPILER, Finding, find
from dynamo_core.fix.judging import ComparedFindings, ObservedRun
from dynamo_core.fix.trial import RunResult
from dynamo_core.model import Place, Recording
from dynamo_core.recording.read import read
from support.stored import edited, stored

NAMES = ("planted", "recompiling", "toy", "hugging_face_breaks")
RESULT = RunResult("r", 0, None, 1.0, 1.0, None)


@cache
def recording(name: str) -> Recording:
    return read(stored(name), CONTENTS)


def of_the_compiler(recorded: Recording) -> list[Finding]:
    return [each for each in find(recorded) if each.kind in OF_THE_COMPILER]


def one_sided(before: Recording, after: Recording) -> list[tuple[set[str], set[str]]]:
    """What `check`, `diff` and `fix` say was added and removed, by identity."""
    checked = check("p", facts_of(after), facts_of(before), None)
    by_check = [
        {each.identity for each in checked.differences if each.identity and each.text.startswith(word)}
        for word in ("new: ", "gone: ")
    ]
    difference = compare(before, after)
    by_diff = [{each.identity for each in side} for side in (difference.came, difference.went)]
    was, now = of_the_compiler(before), of_the_compiler(after)
    compared = ComparedFindings([ObservedRun(RESULT, "", was)], now)
    anywhere = replace(now[0], function="of no finding", place=Place("elsewhere.py", 1)) if now else None
    new = compared.new_findings(anywhere) if anywhere else []
    gone = {each.identity for each in was if not compared.times_left(each)}
    return [tuple(by_check), tuple(by_diff), ({each.identity for each in new}, gone)]  # type: ignore[list-item]


@pytest.mark.parametrize(("before", "after"), list(product(NAMES, NAMES)))
def test_all_three_have_the_same_pairs(before: str, after: str) -> None:
    by_check, by_diff, by_fix = one_sided(recording(before), recording(after))
    assert by_check == by_diff == by_fix
    assert (by_check == (set(), set())) == (before == after)


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [
        ("toy_example.py", "other.py", True),
        ("if b.sum() < 0:", "if c.sum() < 0:", True),
        ("Data-dependent branching", "Another reason", False),
    ],
)
def test_renamed_files_and_names_are_the_same_to_all(
    old: str, new: str, is_same: bool, tmp_path: Path
) -> None:
    def edit(head: str, payload: str) -> str:
        return payload.replace(old, new)

    changed = read(edited("toy", tmp_path, edit), CONTENTS)
    by_check, by_diff, by_fix = one_sided(recording("toy"), changed)
    assert by_check == by_diff
    assert by_check[1] == by_fix[1]  # an edit elsewhere is no remedy's, so that its line is new to `fix`
    assert (by_check == (set(), set())) is is_same
