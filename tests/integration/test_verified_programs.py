"""`dynamo run --verify` finds what is wrong in a program and where, and accuses no program that is right.

Each file in verified_programs/wrong/ is a program whose compiled result differs from that of plain Python
with torch 2.13 on the CPU. The line that it comes from ends in `# cause`. Its docstring says after which
report it was made, and what is to be found:

    kind: value
    stage: tracing

`kind` says what differs, `stage` from which stage of the compiler on; it is the backend where that is one of
the program's own. Programs in verified_programs/right/ compute what plain Python computes, and look as if
they did not.

What is not as it should be yet is listed below, and an entry that holds now has to be taken out. A wrong
program of every third kind is run, and a fourteenth of the right ones; `ALL_CASES=1` runs all.
"""

import ast
import json
from pathlib import Path

import pytest

import dynamo_core
from dynamo_core.findings import Finding
from launching import ForkingPython, Runner
from support.cases import one_in, one_of_each
from support.torch_version import TORCH, skip_where_torch_is_right

HERE = Path(__file__).resolve().parent / "verified_programs"
WRONG = sorted(file.stem for file in (HERE / "wrong").glob("*.py"))
RIGHT = sorted(file.stem for file in (HERE / "right").glob("*.py"))
KINDS = {
    *("value", "structure", "dtype", "stride", "aliasing"),
    *("mutation", "exception", "gradient", "random", "output"),
}
STAGES = {"tracing", "guards", "AOTAutograd", "decompositions", "inductor"}

# Of a wrong program: "alarm" where none is given, else "line" or "stage", or both, where they are others.
MISSING = {
    # The place is the first operation with another value.
    "class_made_before_a_break": "line",
    "groups_kept": "line",
    # Each operation is right alone; what was made of them raises, and the place is the compiled function's.
    "tensor_subclass_without_dispatch": "line",
    # Not compared: what a function behind a cache writes through what it returned before.
    "cached_function": "alarm",
    # A difference that another rounding explains as well is no alarm.
    "bins_of_a_histogram": "alarm",
    "norm_that_overflows": "alarm",
    "compensated_sum": "alarm",
    # A backward in a copy does not see what the program changes after the call. Of the second one the report
    # says that the gradients were not compared.
    "backward_reads_a_list": "alarm",
    "temperature_changed_behind_autograd": "alarm",
    # How often a tensor was written is not compared.
    "write_that_autograd_sees": "alarm",
    # The place is what made the value last, or that of the compiled function.
    "data_swapped": "line",
    "resized_view": "line",
    # The graph is right; what AOTAutograd has read of Python's own below it is none of its operations.
    "gain_read_in_the_graph": "line",
    # It is said that the backend gives the first call's result again, which is no line's fault.
    "backend_that_remembers": "line",
    # The place is the line that calls a function which is in the graph as a whole.
    "settings_read_without_looking": "line",
    # Inductor's code for an operation goes by what stands around it: it is right alone, and in a beginning.
    "peak_of_short_samples": "line",
    # In eager an array's operations are numpy's, and none of them is compared by its values.
    "sign_of_no_number": "line",
    # The backend goes by the names of a graph's inputs, which are others in a part of it.
    "graphs_known_by_their_operators": "line",
    # The place is the first line behind the condition that was answered otherwise.
    "contiguity_after_a_transpose": "line",
    # The place is the line that changes the object, in a generator that is to be closed.
    "generator_left_early": "line",
    # Compiled anew in a copy, the function is right with each backend.
    "mean_of_items": "stage",
    # How long a view of a dictionary's keys is, is not followed.
    "view_of_keys_kept": "line",
    # The place is where the attribute is used, not where it gets its value.
    "function_that_counts_itself": "line",
}
# What is missing on some processors: Inductor's code for an operation goes by what stands around it.
BY_PROCESSOR = {"cosh_of_a_large_loss": "line"}
# Right programs of which something wrong is said.
FALSE_ALARMS: set[str] = set()


def said_of(name: str) -> dict[str, str]:
    """What the docstring of a wrong program says of it."""
    tree = ast.parse((HERE / "wrong" / f"{name}.py").read_text(encoding="utf-8"))
    lines = (ast.get_docstring(tree) or "").splitlines()
    return dict(line.partition(": ")[::2] for line in lines if ": " in line)


def kind_of(name: str) -> tuple[str, str]:
    """What differs, and from which stage on."""
    said = said_of(name)
    return said["kind"], said["stage"] if said["stage"] in STAGES else "a backend of the program's own"


def causes_of(name: str) -> list[int]:
    """The lines of a wrong program that end in `# cause`."""
    lines = (HERE / "wrong" / f"{name}.py").read_text(encoding="utf-8").splitlines()
    return [number for number, line in enumerate(lines, 1) if line.endswith("# cause")]


def wrong_results(recording: Path) -> list[Finding]:
    """The findings of a recording that say that a result is wrong."""
    return [each for each in dynamo_core.open(recording).findings if each.kind == "wrong result"]


@pytest.mark.parametrize("name", WRONG)
def test_wrong_program_is_described(name: str) -> None:
    said = said_of(name)
    assert said["kind"] in KINDS
    program = (HERE / "wrong" / f"{name}.py").read_text(encoding="utf-8")
    assert said["stage"] in STAGES or f"backend={said['stage']})" in program
    assert len(causes_of(name)) == 1


@pytest.mark.parametrize("name", one_in(9, one_of_each(WRONG, kind_of)))
def test_wrong_program(
    name: str, forked: Runner, read: Runner, python: ForkingPython, tmp_path: Path
) -> None:
    program = HERE / "wrong" / f"{name}.py"
    if said_of(name).get("needs") == "AVX-512" and "avx512f" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("with the vectors of this processor eager gives what compiled code gives")
    plain = python.run(program, cwd=tmp_path, more={"TORCHDYNAMO_DISABLE": "1"})
    result = forked("run", "-q", "--verify=error", "-o", "recording", program)
    skip_where_torch_is_right(result.stdout, plain.stdout)
    assert plain.stdout != result.stdout
    findings = wrong_results(tmp_path / "recording")
    places = [(each.place.file, each.place.line) for each in findings if each.place]
    document = json.loads(read("explain", "--format", "json", "recording").stdout)
    calls = document["verified"]["program_calls"]
    stages = {call["stage"] for call in calls if call["outcome"] == "disagrees"}
    if result.exit_code == 117 and findings:
        holds = {
            "line": (str(program), causes_of(name)[0]) in places,
            "stage": said_of(name)["stage"] in stages,
        }
        missing = ", ".join(each for each, is_so in holds.items() if not is_so)
    else:
        missing = "alarm"
    assert missing in (MISSING.get(name, ""), BY_PROCESSOR.get(name, "")), (places, calls)


@pytest.mark.parametrize("name", one_in(47, RIGHT))
def test_right_program(name: str, forked: Runner, python: ForkingPython, tmp_path: Path) -> None:
    program = HERE / "right" / f"{name}.py"
    alone = python.run(program, cwd=tmp_path)
    if alone.exit_code != 0 and TORCH < (2, 9):
        pytest.skip("torch 2.8 ends the program alone with an error")
    result = forked("run", "-q", "--verify=error", "-o", "recording", program)
    assert (alone.exit_code, result.stdout) == (0, alone.stdout), result.stderr
    findings = wrong_results(tmp_path / "recording")
    is_accused = result.exit_code != 0 or bool(findings)
    assert is_accused == (name in FALSE_ALARMS), (result.exit_code, result.stderr, findings)


def test_numbers_too_large_for_a_recording_are_compared(forked: Runner, read: Runner) -> None:
    forked("run", "-q", "--verify", "-o", "recording", HERE / "right" / "nan_and_infinity.py")
    document = json.loads(read("explain", "--format", "json", "recording").stdout)
    assert document["problems"] == []
    assert document["verified"]["agree"] == document["verified"]["graphs"] == 1


def test_shares() -> None:
    assert set(MISSING) <= set(WRONG)
    assert set(RIGHT) >= FALSE_ALARMS
    lacking = [set(text.split(", ")) for text in MISSING.values()]
    alarmed = len(WRONG) - sum("alarm" in each for each in lacking)
    lines, stages = (alarmed - sum(what in each for each in lacking) for what in ("line", "stage"))
    print(f"wrong: {alarmed} of {len(WRONG)} alarmed, {lines} with the line, {stages} with the stage")
    print(f"right: {len(FALSE_ALARMS)} of {len(RIGHT)} alarmed")
