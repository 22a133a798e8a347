"""`dynamo run --try`: what changes would do to breaks and recompiles; the program notices none of it."""

from pathlib import Path

from launching import Runner
from running import PROGRAMS
from support.documents import document
from support.torch_version import TORCH

PROGRAM = PROGRAMS / "tries.py"


def test_changes_are_tried_and_the_program_does_not_notice(forked: Runner, tmp_path: Path) -> None:
    plain = forked("run", "-q", PROGRAM)
    Path(tmp_path, "calls").unlink()
    beside = forked("run", "-q", "--try", "-o", "recording", PROGRAM)
    assert (beside.stdout, beside.exit_code) == (plain.stdout, 3)
    assert len(beside.stderr.splitlines()) == len(plain.stderr.splitlines())
    found = document("explain", "recording", cwd=tmp_path)
    assert found["problems"] == []
    outcomes: dict[str, set[str]] = {}
    for each in found["findings"]:
        outcomes.setdefault(each["function"], set()).update(r["tried"] for r in each["remedies"])
    assert "gone" in outcomes["sized"], outcomes
    if TORCH >= (2, 9):  # where AOTAutograd of 2.8 raises a KeyError with the setting: it is not advised
        assert "gone" in outcomes["scaled"], outcomes
    for function in ("harmful", "writes"):  # nothing is known of these: the copy ended, or was refused
        assert not {"gone", "still there"} & outcomes[function]
