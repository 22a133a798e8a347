"""`--verify` in the program's own process, for where no copy can be made: it prints what it prints without.

Programs as in `test_verified_programs.py`. No stage and line is looked for there.
"""

import json
from pathlib import Path

import pytest

from launching import Runner
from support.cases import one_in
from support.torch_version import TORCH, skip_where_torch_is_right

PROGRAMS = Path(__file__).resolve().parent / "verified_programs"
RIGHT = sorted(file.stem for file in (PROGRAMS / "right").glob("*.py"))
NOTHING_COMPARED = 115
WRONG = [
    "environment_variable_counted",  # it writes a variable of the environment
    "function_that_counts_itself",  # and this one an attribute of a function
    "history_added_to",
    "index_out_of_range",
    "negative_zero",
]


def both(name: str, forked: Runner) -> tuple[tuple[int, str], int, str]:
    """How the program ended without --verify, and with it, and what it then printed."""
    script = PROGRAMS / f"{name}.py"
    plain = forked("run", "-q", "-o", "plain", script)
    in_process = {"DYNAMO_VERIFY_IN_PROCESS": "1"}
    result = forked("run", "-q", "--verify=error", "-o", "recording", script, env=in_process)
    return (plain.exit_code, plain.stdout), result.exit_code, result.stdout


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_program_is_found(name: str, forked: Runner, read: Runner) -> None:
    if name == "history_added_to" and TORCH < (2, 9):
        pytest.skip("torch 2.8 computes it right: what `__iadd__` of a list adds is there")
    plain, code, printed = both(f"wrong/{name}", forked)
    if code == 0:
        eager = forked(
            "run", "-q", "-o", "eager", PROGRAMS / f"wrong/{name}.py", env={"TORCHDYNAMO_DISABLE": "1"}
        )
        skip_where_torch_is_right(printed, eager.stdout)
    assert (code, printed) == (117, plain[1])
    document = json.loads(read("explain", "--format", "json", "recording").stdout)
    [call] = [each for each in document["verified"]["program_calls"] if each["outcome"] == "disagrees"]
    assert call["stage"] is None
    assert call["why"] == "where it comes from was not looked for: DYNAMO_VERIFY_IN_PROCESS is set"


@pytest.mark.parametrize("name", one_in(47, RIGHT))
def test_a_right_program_is_not_accused(name: str, forked: Runner) -> None:
    plain, code, printed = both(f"right/{name}", forked)
    assert printed == plain[1]
    assert code in (plain[0], NOTHING_COMPARED)
