"""What `dynamo check` tells GitHub and code scanners of a place."""

from dataclasses import replace
from typing import Any

import pytest

from dynamo_core.analysis.findings import Cost, Evidence, Finding
from dynamo_core.lock.comparison import Checked, Difference
from dynamo_core.lock.facts import Facts
from dynamo_core.model import Place
from dynamo_reporters.check.github import annotations
from dynamo_reporters.check.sarif import sarif

BREAK = Finding(
    *("graph break", "graph-break-1", "a break", "", "", None, "f", "x", None, False),
    *(Cost(), Evidence(), (), ()),
)
CHECKED = Checked("p", Facts({}), True, (Difference("worse", "new", BREAK.identity),))


def locations(file: str) -> list[Any]:
    at_place = replace(BREAK, place=Place(file, 3))
    found: list[Any] = sarif(CHECKED, {BREAK.identity: at_place})["runs"][0]["results"][0].get(
        "locations", []
    )
    return found


def test_a_path_is_a_uri() -> None:
    assert "'a%20b%23%25.py'" in str(locations("a b#%.py"))


@pytest.mark.parametrize("file", ["", "a.py"])
def test_a_place_without_a_file_is_none(file: str) -> None:
    said = annotations(CHECKED, {BREAK.identity: replace(BREAK, place=Place(file, 3))})
    assert ("line=3" in said, bool(locations(file))) == (bool(file), bool(file))
