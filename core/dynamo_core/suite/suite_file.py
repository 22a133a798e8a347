"""What a suite is made of: `suite.toml`, or a folder of programs.

backends = ["eager", "inductor"]
repeat = 3
time-limit = 300

[bounds]
min-geometric-mean = 1.0

[programs.resnet]
run = "resnet.py --batch 8"
needs = ["torchvision"]
bounds = { min-speed-up = 1.1 }
"""

import re
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from ..bench.measured import EAGER
from ..bench.runs import CHAIN_MARK
from ..checks.program import Program, split_command_line
from ..shared.backend_choice import parse_chain
from ..shared.errors import BackendProblem, ProgramNotFound, SuiteProblem
from ..shared.quick_dataclass import dataclass
from ..shared.settings import CAPTURE_POLICIES
from .bounds import BOUNDS_OF_PROGRAM, BOUNDS_OF_SUITE, Bounds, bounds_from
from .toml_values import ValueProblem, number, refuse_unknown, text, texts, whole_number

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE_NAME = "suite.toml"
_LARGEST = 1 << 20  # bytes
_TIME_LIMIT = 600.0  # seconds for a run, where the suite names none: one that hangs must not hold the others
_ROUNDS = 3
_SETTINGS = ("backends", "repeat", "time-limit", "capture", "step", "cpus", "gpus")
_OF_PROGRAM = ("run", "needs", *_SETTINGS, "bounds")
_OF_SUITE = (*_SETTINGS, "bounds", "programs")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class Choices:
    """How a program is measured. `backends` begin with eager; `time_limit` is of one run, in seconds.

    `cpus` and `gpus` are what it has for itself on a cluster (`--on`), and say nothing of a run here.
    """

    backends: tuple[str, ...] = (EAGER, "inductor")
    repeat: int = _ROUNDS
    time_limit: float = _TIME_LIMIT
    capture: str = "auto"
    step: str | None = None
    cpus: int | None = None
    gpus: float = 0.0


@dataclass(frozen=True)
class SuiteProgram:
    """A program of the suite. It `needs` these modules, without which it is not run."""

    name: str
    program: Program
    choices: Choices = Choices()
    needs: tuple[str, ...] = ()
    bounds: Bounds = field(default_factory=Bounds)


@dataclass(frozen=True)
class Suite:
    """All of it, in the order of the file; `path` is what the user named, `folder` that of the programs."""

    name: str
    path: Path
    folder: Path
    programs: tuple[SuiteProgram, ...]
    bounds: Bounds = field(default_factory=Bounds)


def read_suite(path: Path, given: Mapping[str, Any] | None = None) -> Suite:
    """The suite at a file, or in a folder. What is `given` (keys as in the file) comes before the file's.

    SuiteProblem, BackendProblem or ProgramNotFound, with the place, for what is wrong with it.
    """
    if path.is_dir() and not (path / FILE_NAME).exists():
        return _suite(path, _of_folder(path), path, given or {})
    file = path / FILE_NAME if path.is_dir() else path
    return _suite(file, _content(file), file.parent, given or {})


def backend_names(names: Iterable[str], where: str) -> tuple[str, ...]:
    """Eager first, each once; BackendProblem for one that cannot be a backend."""
    for name in names:
        try:
            parse_chain(name.replace(CHAIN_MARK, ","))
        except ValueError as error:
            raise BackendProblem(f"{where}: {error}") from error
    return tuple(dict.fromkeys([EAGER, *names]))


def _content(file: Path) -> dict[str, Any]:
    try:
        if file.stat().st_size > _LARGEST:
            raise SuiteProblem(f"{file} is larger than any suite ({_LARGEST >> 20} MB)")
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise SuiteProblem(f"there is no suite at {file}") from error
    except OSError as error:
        raise SuiteProblem(f"cannot read {file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits is a mere ValueError
        raise SuiteProblem(f"{file} is no TOML: {error}") from error


def _of_folder(folder: Path) -> dict[str, Any]:
    """A suite of each program in it; what begins with _ is for the others to import."""
    try:
        files = sorted(each.name for each in folder.glob("*.py") if not each.name.startswith(("_", ".")))
    except OSError as error:
        raise SuiteProblem(f"cannot read {folder}: {error.strerror}") from error
    if not files:
        raise SuiteProblem(f"{folder} has neither {FILE_NAME} nor programs (*.py)")
    return {"programs": {Path(name).stem: {"run": shlex.quote(name)} for name in files}}


def _suite(path: Path, content: Mapping[str, Any], folder: Path, given: Mapping[str, Any]) -> Suite:
    where = str(path)
    refuse_unknown(where, content, _OF_SUITE)
    choices = _choices(where, content, Choices())
    bounds = bounds_from(f"{where}: [bounds]", content.get("bounds", {}), BOUNDS_OF_SUITE)
    tables = content.get("programs")
    if not isinstance(tables, Mapping) or not tables:
        raise SuiteProblem(f'{where} has no programs: write [programs.NAME] with run = "FILE.py"')
    programs = tuple(_program(where, name, tables[name], folder, choices, bounds, given) for name in tables)
    name = path.resolve().stem if path.suffix == ".toml" and path.name != FILE_NAME else folder.resolve().name
    return Suite(name or "suite", path, folder, programs, bounds)


def _program(
    file: str,
    name: str,
    table: Any,
    folder: Path,
    of_suite: Choices,
    bounds: Bounds,
    given: Mapping[str, Any],
) -> SuiteProgram:
    where = f"{file}: [programs.{name}]"
    if not _NAME.fullmatch(name):
        raise SuiteProblem(
            f"{where}: a name has letters, digits and . _ - only, as a folder is named like it"
        )
    if not isinstance(table, Mapping):
        raise SuiteProblem(f"{where} is no table")
    refuse_unknown(where, table, _OF_PROGRAM)
    try:
        needs = texts(table, "needs") or ()
    except ValueProblem as problem:
        raise SuiteProblem(f"{where}: {problem}") from problem
    own = bounds_from(f"{where}: bounds", table.get("bounds", {}), BOUNDS_OF_PROGRAM)
    choices = _choices("the command line", given, _choices(where, table, of_suite))
    program = _named(where, table.get("run"), folder)
    return SuiteProgram(name, program, choices, tuple(needs), bounds.of_programs().together(own))


def _named(where: str, run: Any, folder: Path) -> Program:
    """The program of a line as after `dynamo bench`; its script is looked for beside the suite."""
    try:
        words = shlex.split(run) if isinstance(run, str) else None
    except ValueError as error:
        raise SuiteProblem(f"{where}: run: {error}") from error
    if isinstance(run, Sequence) and words is None and all(isinstance(each, str) for each in run):
        words = list(run)
    own, program = split_command_line(words or [], frozenset())
    if own or program is None or program.arguments[0] == "-":
        raise SuiteProblem(f"{where}: run names no program: write FILE.py, -m MODULE or -- COMMAND")
    first, *rest = program.arguments
    if program.is_python and not first.startswith("-"):
        program = replace(program, arguments=(str(folder / first), *rest))
    try:
        program.check()
    except ProgramNotFound as error:
        raise ProgramNotFound(f"{where}: {error}") from error
    return program


def _choices(where: str, table: Mapping[str, Any], before: Choices) -> Choices:
    """With what the table says of them."""
    try:
        backends = texts(table, "backends")
        repeat = whole_number(table, "repeat", least=1)
        time_limit = number(table, "time-limit", above=0)
        capture, step = text(table, "capture"), text(table, "step")
        cpus, gpus = whole_number(table, "cpus", least=1), number(table, "gpus", above=0)
    except ValueProblem as problem:
        raise SuiteProblem(f"{where}: {problem}") from problem
    if gpus is not None and gpus > 1 and gpus != int(gpus):
        raise SuiteProblem(f"{where}: gpus is a part of one, or a whole number")
    if capture is not None and (capture not in CAPTURE_POLICIES or capture == "none"):
        known = ", ".join(policy for policy in CAPTURE_POLICIES if policy != "none")
        raise SuiteProblem(f"{where}: capture is none of {known}")
    return Choices(
        before.backends if backends is None else backend_names(backends, where),
        repeat or before.repeat,
        time_limit or before.time_limit,
        capture or before.capture,
        step or before.step,
        cpus or before.cpus,
        gpus or before.gpus,
    )
