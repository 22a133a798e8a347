"""Versions that a program needs are said to be that: they are the last findings, with nothing to do."""

from collections.abc import Callable
from pathlib import Path

import pytest

import dynamo_core
from conftest import Result

PROGRAM = Path(__file__).resolve().parent / "programs" / "trains_and_evaluates.py"


@pytest.fixture
def run(forked: Callable[..., Result]) -> Callable[..., Result]:
    """Nothing here is about how a process starts."""
    return forked


def test_training_and_evaluating_need_a_version_each(run: Callable[..., Result], tmp_path: Path) -> None:
    ran = run("run", "-q", "-o", tmp_path / "rec", PROGRAM)
    assert ran.exit_code == 0, ran.stderr
    findings = dynamo_core.open(tmp_path / "rec").findings
    recompiles = [finding for finding in findings if finding.kind == "recompile"]
    assert recompiles, [finding.title for finding in findings]
    for finding in recompiles:
        assert finding.remedies == ()
        assert "nothing to cure" in finding.cause
        assert finding.place is not None and finding.place.file == str(PROGRAM)
    lost = [
        finding for finding in findings if finding.kind not in ("recompile", "never pays back", "cold start")
    ]
    assert findings[: len(lost)] == lost
