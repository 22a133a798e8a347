"""Read a suite from `suite.toml` or a folder of programs; its choices, bounds, and broken bounds.

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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields, replace
from pathlib import Path
from typing import Any

from ...launch.program import Program, split_command_line
from ...shared.backend_choice import parse_chain
from ...shared.errors import BackendProblem, ProgramNotFound, SuiteProblem, did_you_mean, os_errors_as
from ...shared.quick_dataclass import dataclass
from ...shared.settings import CAPTURING_POLICIES
from ..measured import EAGER
from ..runs import CHAIN_MARK
from .rows import BackendSummary, ProgramResult, Row

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


# Values of a TOML table by key, of the requested type; None where the key is missing.


class ValueProblem(Exception):
    """What is wrong with a value; the caller adds where the table is."""


def refuse_unknown(where: str, table: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raise SuiteProblem for the first key that is not known."""
    for key in table:
        if key not in known:
            hint = did_you_mean(key, known) or f"known are {', '.join(known)}"
            raise SuiteProblem(f"{where} has {key!r}, which is not known; {hint}")


def text(table: Mapping[str, Any], key: str) -> str | None:
    """A text that is not empty."""
    value = table.get(key)
    if value is not None and not (isinstance(value, str) and value):
        raise ValueProblem(f"{key} is no text")
    return value


def texts(table: Mapping[str, Any], key: str) -> tuple[str, ...] | None:
    """A list of texts."""
    value = table.get(key)
    if value is None:
        return None
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise ValueProblem(f"{key} is no list of texts")
    return tuple(value)


def whole_number(table: Mapping[str, Any], key: str, *, least: int = 0) -> int | None:
    """A whole number from `least`."""
    value = table.get(key)
    if value is not None and (type(value) is not int or value < least):
        raise ValueProblem(f"{key} is not a whole number from {least}")
    return value


def number(table: Mapping[str, Any], key: str, *, above: float | None = None) -> float | None:
    """A number from 0, or `above` another."""
    value = table.get(key)
    if value is None:
        return None
    least = 0 if above is None else above
    # A whole number may be larger than any float, and `float` raises for it.
    if type(value) not in (int, float) or not least <= value <= sys.float_info.max or value == above:
        raise ValueProblem(f"{key} is not a number {'from 0' if above is None else f'above {above:g}'}")
    return float(value)


BOUNDS_OF_PROGRAM = ("min-speed-up", "max-compile-seconds", "max-graph-breaks", "max-recompiles")
BOUNDS_OF_SUITE = (*BOUNDS_OF_PROGRAM, "min-geometric-mean", "min-pass-rate")


@dataclass(frozen=True)
class Bounds:
    """Bounds, None where there is none. The last two are of all programs, the others of each program.

    Bounds of a program apply to all backends but eager.
    """

    min_speed_up: float | None = None
    max_compile_seconds: float | None = None
    max_graph_breaks: float | None = None
    max_recompiles: float | None = None
    min_geometric_mean: float | None = None
    min_pass_rate: float | None = None

    def of_programs(self) -> "Bounds":
        """The bounds without those of all programs together."""
        return replace(self, min_geometric_mean=None, min_pass_rate=None)

    def together(self, nearer: "Bounds") -> "Bounds":
        """Both bounds merged; where they differ, the nearer one's."""
        own = {each.name: getattr(nearer, each.name) for each in fields(nearer)}
        return replace(self, **{name: value for name, value in own.items() if value is not None})


@dataclass(frozen=True)
class BrokenBound:
    """A bound that is not kept. `program` is None where it is of all programs together, and then `hardware`
    is that of a mean, where there were several.
    """

    program: str | None
    backend: str
    bound: str
    limit: float
    found: str
    hardware: str | None = None

    @property
    def subject(self) -> str:
        """What breaks the bound, in words."""
        if self.program is not None:
            return f"{self.program} under {self.backend}"
        return self.backend if self.hardware is None else f"{self.backend} on {self.hardware}"


def bounds_from(where: str, table: Any, known: tuple[str, ...]) -> Bounds:
    """The bounds of a table of the suite's file; SuiteProblem says what is wrong with it."""
    if not isinstance(table, Mapping):
        raise SuiteProblem(f"{where} is no table")
    refuse_unknown(where, table, known)
    try:
        return Bounds(**{key.replace("-", "_"): number(table, key) for key in table})
    except ValueProblem as problem:
        raise SuiteProblem(f"{where}: {problem}") from problem


def broken_bounds_of_program(result: ProgramResult, bounds: Bounds) -> Iterator[BrokenBound]:
    """The bounds that a program breaks; one that could not run breaks all that need a figure."""
    for row in result.rows:
        if not row.is_eager:
            for bound, limit, found, is_kept in _bounds_kept(row, bounds):
                if limit is not None and not is_kept:
                    yield BrokenBound(result.program, row.backend, bound, limit, found)


def broken_bounds_of_suite(
    summaries: Sequence[BackendSummary], pass_rates: Mapping[str, float], bounds: Bounds
) -> Iterator[BrokenBound]:
    """The bounds that all programs together break under a backend; a mean is of one kind of hardware."""
    for backend in pass_rates:
        of_backend = [each for each in summaries if each.backend == backend]
        for summary in [each for each in of_backend if each.compared] or of_backend[:1]:
            least, mean = bounds.min_geometric_mean, summary.geometric_mean
            if least is not None and backend != EAGER and (mean is None or mean < least):
                yield BrokenBound(None, backend, "min-geometric-mean", least, _figure(mean), summary.hardware)
    least = bounds.min_pass_rate
    for backend, rate in pass_rates.items():
        if least is not None and rate < least:
            yield BrokenBound(None, backend, "min-pass-rate", least, _figure(rate))


def _bounds_kept(row: Row, bounds: Bounds) -> Iterator[tuple[str, float | None, str, bool]]:
    """For each bound of a program: its name, its limit, what was found, and whether it is kept.

    A speed-up is too small only where its whole interval is below the bound, so that noise fails no build.
    """
    speed = row.speed_up if row.has_passed else None
    mean = None if speed is None else speed.mean
    reached = speed is not None and (speed.high or speed.mean) >= (bounds.min_speed_up or 0)
    yield "min-speed-up", bounds.min_speed_up, _figure(mean), reached
    most = (
        ("max-compile-seconds", bounds.max_compile_seconds, row.compile_cold_seconds),
        ("max-graph-breaks", bounds.max_graph_breaks, row.graph_breaks),
        ("max-recompiles", bounds.max_recompiles, row.recompiles),
    )
    for name, limit, value in most:
        yield name, limit, _figure(value), value is not None and (limit is None or value <= limit)


def _figure(value: float | None) -> str:
    return "not measured" if value is None else f"{value:,.3f}".rstrip("0").rstrip(".")


FILE_NAME = "suite.toml"
_LARGEST = 1 << 20  # bytes
_TIME_LIMIT = 600.0  # default seconds for a run: one that hangs must not hold up the others
_ROUNDS = 3
_CHOICE_KEYS = ("backends", "repeat", "time-limit", "capture", "step", "cpus", "gpus")
_PROGRAM_KEYS = ("run", "needs", *_CHOICE_KEYS, "bounds")
_SUITE_KEYS = (*_CHOICE_KEYS, "bounds", "programs")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class Choices:
    """How a program is measured. `backends` begin with eager; `time_limit` is of one run, in seconds.

    `cpus` and `gpus` are reserved for it on a cluster (`--on`); they do not affect a run here.
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
    """A program of the suite. It is not run without the modules that it `needs`."""

    name: str
    program: Program
    choices: Choices = Choices()
    needs: tuple[str, ...] = ()
    bounds: Bounds = field(default_factory=Bounds)


@dataclass(frozen=True)
class Suite:
    """A suite, in the order of its file; `path` is what the user named, `folder` has the programs."""

    name: str
    path: Path
    folder: Path
    programs: tuple[SuiteProgram, ...]
    bounds: Bounds = field(default_factory=Bounds)


def read_suite(path: Path, given: Mapping[str, Any] | None = None) -> Suite:
    """Read the suite at a file, or in a folder. `given` values, by keys as in the file, override the file's.

    SuiteProblem, BackendProblem or ProgramNotFound say what is wrong with it, and where.
    """
    if path.is_dir() and not (path / FILE_NAME).exists():
        return _suite(path, _folder_content(path), path, given or {})
    file = path / FILE_NAME if path.is_dir() else path
    return _suite(file, _file_content(file), file.parent, given or {})


def backend_names(names: Iterable[str], where: str) -> tuple[str, ...]:
    """The names, eager first, each once; BackendProblem for one that cannot be a backend."""
    for name in names:
        try:
            parse_chain(name.replace(CHAIN_MARK, ","))
        except ValueError as error:
            raise BackendProblem(f"{where}: {error}") from error
    return tuple(dict.fromkeys([EAGER, *names]))


def _file_content(file: Path) -> dict[str, Any]:
    try:
        with os_errors_as(SuiteProblem, f"cannot read {file}"):
            if not file.exists():
                raise SuiteProblem(f"there is no suite at {file}")
            if file.stat().st_size > _LARGEST:
                raise SuiteProblem(f"{file} is larger than any suite ({_LARGEST >> 20} MB)")
            return tomllib.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits is a plain ValueError
        raise SuiteProblem(f"{file} is no TOML: {error}") from error


def _folder_content(folder: Path) -> dict[str, Any]:
    """The content of a suite with each program in the folder; files that begin with _ are only imported."""
    with os_errors_as(SuiteProblem, f"cannot read {folder}"):
        files = sorted(each.name for each in folder.glob("*.py") if not each.name.startswith(("_", ".")))
    if not files:
        raise SuiteProblem(f"{folder} has neither {FILE_NAME} nor programs (*.py)")
    return {"programs": {Path(name).stem: {"run": shlex.quote(name)} for name in files}}


def _suite(path: Path, content: Mapping[str, Any], folder: Path, given: Mapping[str, Any]) -> Suite:
    where = str(path)
    refuse_unknown(where, content, _SUITE_KEYS)
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
    refuse_unknown(where, table, _PROGRAM_KEYS)
    try:
        needs = texts(table, "needs") or ()
    except ValueProblem as problem:
        raise SuiteProblem(f"{where}: {problem}") from problem
    own = bounds_from(f"{where}: bounds", table.get("bounds", {}), BOUNDS_OF_PROGRAM)
    choices = _choices("the command line", given, _choices(where, table, of_suite))
    program = _program_of(where, table.get("run"), folder)
    return SuiteProgram(name, program, choices, tuple(needs), bounds.of_programs().together(own))


def _program_of(where: str, run: Any, folder: Path) -> Program:
    """The program of a command line as for `dynamo bench`; its script is relative to the suite."""
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
    """The choices `before`, overridden by those in the table."""
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
    if capture is not None and capture not in CAPTURING_POLICIES:
        raise SuiteProblem(f"{where}: capture is none of {', '.join(CAPTURING_POLICIES)}")
    return Choices(
        before.backends if backends is None else backend_names(backends, where),
        repeat or before.repeat,
        time_limit or before.time_limit,
        capture or before.capture,
        step or before.step,
        cpus or before.cpus,
        gpus or before.gpus,
    )
