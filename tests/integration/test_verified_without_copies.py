"""`--verify` where the process cannot be copied, as on a GPU: the program prints what it prints without.

Programs as in `test_verified_programs.py`. No stage and line is looked for there.
"""

import json
from pathlib import Path

import pytest

from launching import Runner
from support.cases import one_in

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "verified_programs"
RIGHT = sorted(file.stem for file in (PROGRAMS / "right").glob("*.py"))
WRONG = [
    "environment_variable_counted",  # it writes a variable of the environment
    "function_that_counts_itself",  # and this one an attribute of a function
    "history_added_to",
    "index_out_of_range",
    "negative_zero",
]


def both(name: str, forked: Runner) -> tuple[tuple[int, str], int, str]:
    """How the program ended without --verify, and with it, and what it then printed."""
    program = HERE / "programs" / "without_copies.py"
    script = PROGRAMS / f"{name}.py"
    plain = forked("run", "-q", "-o", "plain", program, script)
    result = forked("run", "-q", "--verify=error", "-o", "recording", program, script)
    return (plain.exit_code, plain.stdout), result.exit_code, result.stdout


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_program_is_found(name: str, forked: Runner, read: Runner) -> None:
    plain, code, printed = both(f"wrong/{name}", forked)
    assert (code, printed) == (117, plain[1])
    document = json.loads(read("explain", "--format", "json", "recording").stdout)
    [call] = [each for each in document["verified"]["program_calls"] if each["outcome"] == "disagrees"]
    assert call["stage"] is None
    assert call["why"] == "where it comes from was not looked for: there are no copies here"


@pytest.mark.parametrize("name", one_in(16, RIGHT))
def test_a_right_program_is_not_accused(name: str, forked: Runner) -> None:
    plain, code, printed = both(f"right/{name}", forked)
    assert (code, printed) == plain
