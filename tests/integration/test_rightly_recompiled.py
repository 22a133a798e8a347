"""Recompiles with nothing to do: versions that a program needs, and those that follow from others."""

from collections.abc import Callable
from pathlib import Path

import pytest

import dynamo_core
from dynamo_core.findings.kinds import SPECS
from support.answering import Result

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
    lost = [each for each in findings if each.kind != "recompile" and not SPECS[each.kind].is_context]
    assert findings[: len(lost)] == lost


def test_what_is_met_again_behind_a_break_follows_from_the_frame_above(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import torch\n"
        "@torch.compile(backend='eager', dynamic=False)\n"
        "def f(x):\n"
        "    y = x * 2\n"
        "    print('size')\n"
        "    return (y + x).sum()\n"
        "for n in (3, 4, 5):\n"
        "    f(torch.ones(n))\n"
    )
    run("run", "-q", "-o", tmp_path / "rec", program)
    above, behind = (each for each in dynamo_core.open(tmp_path / "rec").findings if each.kind == "recompile")
    assert (above.because_of, behind.because_of) == (None, above.identity)
