"""The first finding of a broken program names the line and the kind, and its first remedy cures it.

Each file in broken_programs/ is a program with one planted cause, on the line that ends in `# cause`. Its
docstring says what is to be found:

    kind: graph break
    advice: torch.where

`advice` must stand in the text of the first remedy. The remedy is then followed to the letter: where it has a
change that needs no edit, by the program; else the same program as it is after the advice stands in
`NAME.cured.py`. The finding must be gone then, and what the program prints the same.
"""

import ast
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import dynamo_core
from dynamo_core.analysis.findings import Finding, Remedy

HERE = Path(__file__).resolve().parent / "broken_programs"
PROGRAMS = sorted(file.stem for file in HERE.glob("*.py") if not file.stem.endswith(".cured"))
_TIME_LIMIT = 120


@dataclass(frozen=True)
class Expected:
    """What the docstring of a program says of it, and where its cause is."""

    kind: str
    advice: str
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
        return cls(said["kind"], said["advice"], line, tuple(said.get("options", "").split()))


@dataclass(frozen=True)
class Ran:
    """What a program printed, how it ended, and what was found."""

    exit_code: int
    stdout: str
    stderr: str
    findings: list[Finding]


@pytest.mark.parametrize("name", PROGRAMS)
def test_first_advice_names_the_line_and_cures(
    name: str, environment: dict[str, str], tmp_path: Path
) -> None:
    program = HERE / f"{name}.py"
    expected = Expected.of(program)
    broken = _run(program, expected.options, environment, tmp_path / "broken")
    assert broken.findings, "nothing was found"
    first = broken.findings[0]
    where = (Path(first.place.file).name, first.place.line) if first.place else None
    if where != (program.name, expected.line) and first.via is not None:
        where = (Path(first.via.place.file).name, first.via.place.line)
    assert (first.kind, where) == (expected.kind, (program.name, expected.line)), first.title
    assert first.remedies and expected.advice in first.remedies[0].text, first.remedies

    cured = _cured(program, expected, first.remedies[0], environment, tmp_path / "cured")
    assert (cured.exit_code, cured.stdout) == (broken.exit_code, broken.stdout), cured.stderr
    left = [each for each in cured.findings if each.kind == first.kind and each.function == first.function]
    assert not left, f"not cured: {[each.title for each in left]}"


def _cured(
    program: Path, expected: Expected, remedy: Remedy, environment: dict[str, str], recording: Path
) -> Ran:
    change, by_hand = remedy.change, program.with_suffix(".cured.py")
    if change is None or change.edit is not None:
        return _run(by_hand, expected.options, environment, recording)
    assert not by_hand.exists(), f"{by_hand.name}: the remedy needs no edit"
    options = [*expected.options, *change.options]
    options += [f"--config={each}" for each in change.settings]
    options += [f"--override={each}" for each in change.arguments]
    variables = {each.name: each.value for each in change.environment}
    return _run(program, tuple(options), environment | variables, recording)


def _run(program: Path, options: tuple[str, ...], environment: dict[str, str], recording: Path) -> Ran:
    ran = subprocess.run(
        [sys.executable, "-m", "dynamo_cli", "run", "-q", "-o", recording, *options, program],
        env=environment,
        cwd=recording.parent,
        capture_output=True,
        text=True,
        timeout=_TIME_LIMIT,
        check=False,
    )
    return Ran(ran.returncode, ran.stdout, ran.stderr, dynamo_core.open(recording).findings)
