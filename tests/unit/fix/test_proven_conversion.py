"""Dataclasses from their JSON values: whole, or refused."""

import json
from dataclasses import asdict
from typing import Any

import pytest

from dynamo_core.fix.proven import ProvenFix, ProvenFixes
from dynamo_core.fix.trial import Patch
from dynamo_core.launch.program import Program
from dynamo_core.model import Place
from dynamo_core.remedies.rules import Assignment, Change
from dynamo_core.shared.conversion import from_json

FIX = ProvenFix(
    1,
    (Patch("a.py", "before", "after"),),
    Change(settings=(Assignment("name", "True"),)),
    Place("a.py", 3),
    (Place("b.py", 4),),
)
FIXES = ProvenFixes(Program(("a.py", "--fast"), is_python=True), (FIX, ProvenFix(2, ())), ())


def test_what_was_written_is_read_back() -> None:
    assert from_json(ProvenFixes, json.loads(json.dumps(asdict(FIXES))) | {"mark": "unknown"}) == FIXES
    assert from_json(ProvenFixes, {"program": None, "fixes": [], "together": []}).program is None


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {"fixes": [], "together": []},
        {"program": None, "fixes": [{"number": 1, "patches": "none"}], "together": []},
        {"program": None, "fixes": [{"number": 1, "patches": [], "place": ["a.py"]}], "together": []},
        {"program": None, "fixes": [{"number": 1, "patches": [], "place": ["a.py", "3"]}], "together": []},
        {"program": {"arguments": [1], "is_python": True}, "fixes": [], "together": []},
    ],
)
def test_what_is_damaged_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"it (is|has) no"):
        from_json(ProvenFixes, value)
