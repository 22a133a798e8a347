"""The first finding of a broken program names the line and the kind, and its first remedy cures it.

Each file in broken_programs/ is a program with one planted cause, on the line that ends in `# cause`. Its
docstring says what is to be found:

    kind: graph break
    advice: torch.where

`advice` must stand in the text of the first remedy; `title`, where it is given, in that of the finding. The
remedy is then followed to the letter: where it has a change that needs no edit, by the program; else the same
program as it is after the advice stands in `NAME.cured.py`. The finding must be gone then, and what the
program prints the same.

The packages in broken_programs/site-packages are what others wrote. A sixth of the kinds of findings and
advice is run, a program each; `ALL_CASES=1` runs all.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

import dynamo_core
from dynamo_core.findings import Finding, Remedy
from dynamo_core.fix.changes import patches, source_change
from dynamo_core.fix.trial import overlay
from dynamo_core.launch.program import Program
from dynamo_core.model import Place
from dynamo_core.remedies.break_rules import TABLE
from dynamo_core.remedies.rules import Change
from launching import ForkingPython
from support.cases import one_in, one_of_each
from support.torch_version import TORCH

HERE = Path(__file__).resolve().parent / "broken_programs"
UNTIL_3_11 = ("property_that_is_cached",)
UNTIL_3_13 = ("propagation_until_all_agree",)
_NO_FORMAT = "raises an error itself for the format of a number from `.item()`"
OTHERWISE_IN_2_8 = {
    "check_of_an_item": "needs to know the value, with the setting as well",
    "index_of_what_is_found": "needs to know whether nothing was found, with the settings as well",
    "levels_split_by_item": "ends the program with an error of its own",
    "number_of_nodes": "needs to know the number, with the setting as well",
}
_COMPILED = "takes it into the graph"
_COMPILES_IT = "compiles it as it is"
OTHERWISE_IN_2_15 = {
    "best_of_candidates": "traces `min` with a key, and breaks in that",
    "context_variable": _COMPILES_IT,
    "count_under_a_lock": "does not say on which line the lock is taken: the advice is that on any context",
    "gru_layer": "breaks where gradients are not known to be off: the advice is that on training",
    "item_printed": _NO_FORMAT,
    "loss_every_ten_steps": _NO_FORMAT,
    "neighbours_from_a_sampler": "names the object that the sampler makes, not the call",
    "number_given_to_a_meter": _NO_FORMAT,
    "operations_listed_first": _COMPILES_IT,
    "order_shuffled": _COMPILED,
    "random_index": "ends the compile in an error of its own, with other words",
    "recompile_counted_in_a_dictionary": "names the keys of the dictionary",
    "recompile_temperature_by_count": "needs the number itself, so that there is another advice",
    "recompile_timestep_of_a_schedule": "makes the number dynamic from the start",
    "view_or_copy": _COMPILED,
    "weak_proxy": _COMPILES_IT,
}
# The kind and the line that torch 2.15 leads to, where they are others; the advice is the same.
ELSEWHERE_IN_2_15 = {
    "clamp_overflow": ("fell back to eager", 26),
    "gradient_penalty": ("fell back to eager", 22),
    "layer_left_out_by_a_coin": ("fell back to eager", 25),
    "lstm_in_training": ("graph break", 19),
    "recompile_normalized_observations": ("recompile", 23),
    "recompile_position_in_the_cache": ("recompile limit", 23),
    "recompile_step_in_optimizer_state": ("recompile", 23),
    "recurrent_layer": ("graph break", 18),
    "while_on_a_value": ("fell back to eager", 13),
}
AND_FROM_3_14 = ("clamp_overflow", "while_on_a_value")
PROGRAMS = sorted(file.stem for file in HERE.glob("*.py") if not file.stem.endswith(".cured"))


@dataclass(frozen=True)
class Expected:
    """What the docstring of a program says of it, and where its cause is."""

    kind: str
    advice: str
    title: str
    line: int
    options: tuple[str, ...]

    @classmethod
    def of(cls, program: Path) -> "Expected":
        """Read a program's docstring."""
        text = program.read_text(encoding="utf-8")
        said = dict(
            line.partition(": ")[::2]
            for line in (ast.get_docstring(ast.parse(text)) or "").splitlines()
            if ": " in line
        )
        (line,) = (n for n, each in enumerate(text.splitlines(), 1) if each.endswith("# cause"))
        return cls(
            said["kind"], said["advice"], said.get("title", ""), line, tuple(said.get("options", "").split())
        )


def kind_of(name: str) -> tuple[str, str, str]:
    """Programs with the same kind of finding, advice and options are cases of the same kind."""
    expected = Expected.of(HERE / f"{name}.py")
    return expected.kind, expected.advice, " ".join(expected.options)


@dataclass(frozen=True)
class Ran:
    """What a program printed, how it ended, and what was found, each with its action's remedy first."""

    exit_code: int
    stdout: str
    stderr: str
    findings: list[Finding]


def ran(
    python: ForkingPython, recording: Path, *arguments: str, variables: Mapping[str, str] | None = None
) -> Ran:
    """Run a program, and read what was found."""
    command = ("-m", "dynamo_cli", "run", "-q", "-o", recording, *arguments)
    result = python.run(*command, cwd=recording.parent, more=variables)
    return Ran(result.exit_code, result.stdout, result.stderr, _found(recording))


def _found(recording: Path) -> list[Finding]:
    case = dynamo_core.open(recording)
    with_remedy = {each.identity: each for each in case.findings_by_action}
    return [with_remedy[each.identity] for each in case.findings]


@pytest.mark.parametrize("name", one_in(15, one_of_each(PROGRAMS, kind_of)))
def test_first_advice_names_the_line_and_cures(name: str, python: ForkingPython, tmp_path: Path) -> None:
    if name in OTHERWISE_IN_2_8 and TORCH < (2, 9):
        pytest.skip(f"torch 2.8 {OTHERWISE_IN_2_8[name]}")
    if name in OTHERWISE_IN_2_15 and TORCH >= (2, 15):
        pytest.skip(f"torch 2.15 {OTHERWISE_IN_2_15[name]}")
    if name in UNTIL_3_11 and sys.version_info >= (3, 12):
        pytest.skip("functools.cached_property has no lock from Python 3.12 on, and is traced")
    if name in UNTIL_3_13 and sys.version_info >= (3, 14):
        pytest.skip("Python 3.14 makes no generator of `all(… for …)`: the advice is that on any branch")
    program = HERE / f"{name}.py"
    expected = Expected.of(program)
    broken = ran(python, tmp_path / "broken", *expected.options, str(program))
    if TORCH < (2, 9) and not _is_as_expected(broken.findings, program, expected):
        pytest.skip("torch 2.8 has other reasons and lines for it: there, only what is cured is judged")
    assert broken.findings, "nothing was found"
    first = broken.findings[0]
    where = (Path(first.place.file).name, first.place.line) if first.place else None
    kind, line = expected.kind, expected.line
    if TORCH >= (2, 15) or (sys.version_info >= (3, 14) and name in AND_FROM_3_14):
        kind, line = ELSEWHERE_IN_2_15.get(name, (kind, line))
    assert (first.kind, where) == (kind, (program.name, line)), first.title
    assert expected.title in first.title
    assert first.remedies and expected.advice in first.remedies[0].text, first.remedies
    assert not _harmful(name, first.remedies)

    cured = _cured(program, expected, first.remedies[0], python, tmp_path / "cured")
    assert (cured.exit_code, cured.stdout) == (broken.exit_code, broken.stdout), cured.stderr
    left = [each for each in cured.findings if each.kind == first.kind and each.function == first.function]
    assert not left, f"not cured by {first.remedies[0].text}: {[each.title for each in left]}"


@pytest.mark.parametrize("name", one_of_each(PROGRAMS, lambda name: kind_of(name)[0]))
def test_no_advice_changes_what_the_program_prints_or_how_it_ends(
    name: str, python: ForkingPython, tmp_path: Path
) -> None:
    """All that can be followed without a person: settings, arguments, and edits where they fit."""
    program, options = HERE / f"{name}.py", Expected.of(HERE / f"{name}.py").options
    broken = ran(python, tmp_path / "broken", *options, str(program))
    if broken.exit_code != 0:
        return  # its advice is to end that
    advised = dict.fromkeys(
        (finding.place, remedy.change) for finding in broken.findings for remedy in finding.remedies
    )
    for number, (place, change) in enumerate(advised):
        changed = None if change is None else _followed(program, place, change, tmp_path / f"files-{number}")
        if change is not None and changed is not None:
            recording = tmp_path / f"changed-{number}"
            result = _ran_with(change, python, recording, *options, str(changed))
            printed = result.exit_code, _sorted_lines(result)
            assert printed == (0, _sorted_lines(broken)), (change, result.stderr)


def _is_as_expected(findings: list[Finding], program: Path, expected: Expected) -> bool:
    """Whether the first finding has the kind, the line and the advice that later versions lead to."""
    first = findings[0] if findings else None
    if first is None or first.place is None or not first.remedies:
        return False
    is_there = (Path(first.place.file).name, first.place.line) == (program.name, expected.line)
    return is_there and first.kind == expected.kind and expected.advice in first.remedies[0].text


def _followed(program: Path, place: Place | None, change: Change, folder: Path) -> Path | None:
    """The program to run with a change; None where an edit does not fit."""
    if change.edit is None:
        return program
    whole = Program((str(program),), is_python=True)
    edited = None if place is None else patches(whole, [source_change(place, change)])
    if not edited:
        return None
    return Path(overlay(whole, {each.file: each.after for each in edited}, folder).arguments[0])


def _sorted_lines(result: Ran) -> list[str]:
    """What it printed; torch may print what was printed in a graph after it."""
    return sorted(result.stdout.splitlines())


_STEP = """
import torch
weight = torch.nn.Parameter(torch.ones(4))
optimizer = torch.optim.Adam([weight], lr=0.1)
step = torch.compile(lambda: optimizer.step(), backend="eager")
for _ in range(3):
    (weight * weight).sum().backward()
    step()
"""


def test_a_break_that_torch_makes_on_purpose_is_no_finding(python: ForkingPython, tmp_path: Path) -> None:
    program, recording = tmp_path / "step.py", tmp_path / "recording"
    program.write_text(_STEP, encoding="utf-8")
    found = ran(python, recording, str(program)).findings
    assert "graph break" not in [each.kind for each in found]
    explained = python.run("-m", "dynamo_cli", "explain", "--all", recording, cwd=tmp_path).stdout
    assert "step.py:5 Call to `torch._dynamo.graph_break()`" in explained and "nothing to do" in explained


def test_a_forked_program_is_found_what_it_is_found_alone(
    python: ForkingPython, environment: dict[str, str], tmp_path: Path
) -> None:
    program = HERE / "branch_on_a_value.py"
    alone, recording = tmp_path / "alone", tmp_path / "forked"
    command = [sys.executable, "-m", "dynamo_cli", "run", "-q", "-o", alone, program]
    subprocess.run(command, env=environment, cwd=tmp_path, check=True, capture_output=True)
    forked = ran(python, recording, str(program)).findings
    found = _found(alone)
    assert [each.identity for each in found][:1] == [each.identity for each in forked][:1]


def _harmful(name: str, remedies: tuple[Remedy, ...]) -> list[str]:
    """Remedies that the tables say must not be given for this program."""
    harmful = [each.text for rule in TABLE for each in rule.remedies if name in each.not_for]
    return [
        remedy.text
        for remedy in remedies
        if any(_as_pattern(text).fullmatch(remedy.text) for text in harmful)
    ]


def _as_pattern(text: str) -> re.Pattern[str]:
    """What a text of the tables becomes, whatever parts of a line it names."""
    return re.compile(re.sub(r"\\{\w+\\}", ".*", re.escape(text)))


def _cured(program: Path, expected: Expected, remedy: Remedy, python: ForkingPython, recording: Path) -> Ran:
    change, by_hand = remedy.change, program.with_suffix(".cured.py")
    if change is None or change.edit is not None:
        return ran(python, recording, *expected.options, str(by_hand))
    assert not by_hand.exists(), f"{by_hand.name}: the remedy needs no edit"
    return _ran_with(change, python, recording, *expected.options, str(program))


def _ran_with(change: Change, python: ForkingPython, recording: Path, *arguments: str) -> Ran:
    options = [*change.options, *(f"--config={each}" for each in change.settings)]
    options += [f"--override={each}" for each in change.arguments]
    variables = {each.name: each.value for each in change.environment}
    return ran(python, recording, *options, *arguments, variables=variables)
