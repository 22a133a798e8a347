"""Run a suite, a program after another. What happens in a program's runs is a row, never the suite's end."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, replace
from functools import partial
from hashlib import sha256
from itertools import chain
from pathlib import Path

from ...launch.program import default_python
from ...launch.run import Request
from ...shared.errors import CannotRecord, DynamoError, NotMeasured
from ...shared.masking import masked_arguments
from ...shared.quick_dataclass import dataclass
from ...shared.settings import Settings
from ..measured import machine_of
from ..runs import Plan, bench, first_request, requests_for
from .file import BrokenBound, Suite, SuiteProgram, broken_bounds_of_program, broken_bounds_of_suite
from .results import WORSE, Difference, ResultsFolder, differences, now, on_other_hardware, undecided
from .rows import (
    BackendSummary,
    ProgramResult,
    log_name,
    pass_rates,
    rows_of,
    rows_without_figures,
    summarize,
)

# What the program's Python has: the version of torch, and which modules are missing. Nothing is imported.


_ASK = """
import importlib.metadata, importlib.util, json, sys
def has(name):
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
print(json.dumps([version("torch"), [name for name in sys.argv[1:] if not has(name)]]))
"""
_LONGEST = 60.0  # seconds


@dataclass(frozen=True)
class Installed:
    """`torch` is None where there is none, or nothing was answered; then no module counts as missing."""

    torch: str | None = None
    missing: frozenset[str] = frozenset()


def installed(python: str, modules: Collection[str]) -> Installed:
    """Ask `python`."""
    try:
        answer = subprocess.run(
            [python, "-c", _ASK, *sorted(modules)],
            capture_output=True,
            text=True,
            timeout=_LONGEST,
            stdin=subprocess.DEVNULL,
            check=True,
        ).stdout
        torch, missing = json.loads(answer.strip().splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return Installed()  # the programs will meet what is wrong with it themselves
    return Installed(torch, frozenset(missing))


# Run a suite, a program after another.


# What else changes the figures of a program.
_OF_THE_ENVIRONMENT = ("OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES")
HERE = "here"
_LARGEST_SCRIPT = 16 << 20  # bytes


@dataclass(frozen=True)
class SuiteOptions:
    """What all programs are run with. `verify`: once more, not timed, with each graph beside eager."""

    settings: Settings
    python: str
    verify: bool = True


@dataclass
class SuiteRun:
    """What there is of a suite: the results of its programs, in order, and how many were kept from before."""

    suite: Suite
    results: list[ProgramResult]
    installed: Installed
    kept: int = 0
    is_interrupted: bool = False


@dataclass(frozen=True)
class Watcher:
    """Who looks on: `announce` gets what is about to run of a program, and how long the program takes yet,
    where that is known; `ended` its result.

    On a cluster, `count` gets how many programs are done, and `tell` what else happened.
    """

    announce: Callable[[SuiteProgram, str, str | None], None]
    ended: Callable[[ProgramResult], None]
    count: Callable[[int], None]
    tell: Callable[[str], None]


def check_suite(suite: Suite, means: SuiteOptions) -> None:
    """BackendProblem, or another DynamoError, for what would keep every run of a program from starting."""
    asked: set[tuple[str, ...]] = set()
    for program in suite.programs:
        if program.choices.backends not in asked:  # torch is asked for those that are not its usual ones
            asked.add(program.choices.backends)
            requests_for(_request(program, means), program.choices.backends)


def run_suite(suite: Suite, means: SuiteOptions, folder: ResultsFolder, watcher: Watcher) -> SuiteRun:
    """Run what is not kept yet. KeyboardInterrupt ends it early, with what is done."""
    has = installed(means.python, {module for program in suite.programs for module in program.needs})
    run = SuiteRun(suite, [], has)
    try:
        for program in suite.programs:
            key = key_of(program, means, has)
            result = folder.result(program.name, key)
            if result is not None:
                run.kept += 1
                run.results.append(result)
                continue
            own = folder.new_folder(program.name)
            announce = partial(watcher.announce, program)
            result = run_program(program, means, has, key, own, announce)
            folder.keep(result)
            run.results.append(result)
            watcher.ended(result)
    except KeyboardInterrupt:
        run.is_interrupted = True
    return run


def run_program(
    program: SuiteProgram,
    means: SuiteOptions,
    has: Installed,
    key: str,
    folder: Path,
    announce: Callable[[str, str | None], None],
) -> ProgramResult:
    """Measure a program, here and now, in processes of its own; KeyboardInterrupt where one ended it.

    All that it needs are its arguments and a folder to write to: it runs on other machines as well.
    """
    began = time.monotonic()
    result = ProgramResult(
        program=program.name,
        command=" ".join(masked_arguments(program.program.arguments)),
        key=key,
        skipped=None,
        rows=(),
        took_seconds=0.0,
        finished="",
        machine=replace(machine_of(()), torch=has.torch),
        script_sha256=_digest(program.program.arguments[0]),
    )
    missing = sorted(has.missing & set(program.needs))
    if missing:
        skipped = f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed"
        return replace(result, skipped=skipped, finished=now())
    choices = program.choices
    caches = folder / "caches"
    try:
        request = _request(program, means)
        plan = Plan(
            first=first_request(request),
            requests=requests_for(request, choices.backends),
            rounds=choices.repeat,
            most_rounds=choices.repeat,
            recordings=folder,
            caches=caches,
            verify=means.verify,
            step=choices.step,
            time_limit=choices.time_limit,
        )
        found = bench(plan, lambda what, done, in_all, remaining: announce(what, remaining))
        if found.is_interrupted:
            raise KeyboardInterrupt
        rows = rows_of(found, folder)
        if found.machine is not None:
            result = replace(result, machine=replace(found.machine, torch=found.machine.torch or has.torch))
    except CannotRecord:  # a full disk is not the program's
        raise
    except NotMeasured as error:
        problem = str(error).removeprefix(f"{program.program.name} ")
        rows = rows_without_figures(choices.backends, problem, _log(folder))
    except DynamoError as error:
        rows = rows_without_figures(choices.backends, str(error), None)
    finally:
        shutil.rmtree(caches, ignore_errors=True)
    return replace(result, rows=rows, took_seconds=time.monotonic() - began, finished=now())


def suite_options(settings: Settings, python: str | None, *, verify: bool) -> SuiteOptions:
    """How programs are run: with this Python, or the one that is found."""
    return SuiteOptions(settings, python or default_python(), verify)


def _request(program: SuiteProgram, means: SuiteOptions) -> Request:
    settings = means.settings._replace(capture=program.choices.capture)
    return Request(program.program, settings, python=means.python)


def key_of(program: SuiteProgram, means: SuiteOptions, has: Installed, place: str = HERE) -> str:
    """A digest of all that a program's rows depend on, as far as it can be known without running it."""
    missing = sorted(has.missing & set(program.needs))
    environment = {name: os.environ.get(name) for name in _OF_THE_ENVIRONMENT}
    arguments = program.program.arguments
    choices = asdict(program.choices)
    if place == HERE:  # where nothing is done with them
        del choices["cpus"], choices["gpus"]
    parts = [arguments, choices, means.python, means.verify, means.settings._asdict(), place]
    return sha256(
        json.dumps([*parts, has.torch, missing, environment, _digest(arguments[0])]).encode()
    ).hexdigest()


def _digest(script: str) -> str | None:
    """Of the script's content, where it is one."""
    try:
        file = Path(script)
        return sha256(file.read_bytes()).hexdigest() if file.stat().st_size <= _LARGEST_SCRIPT else None
    except (OSError, ValueError):
        return None


def _log(folder: Path) -> str | None:
    """What the run that came last wrote to stderr."""
    logs = sorted(folder.glob("*.stderr"), key=lambda file: file.stat().st_mtime_ns)
    return log_name(folder, logs[-1].name) if logs else None


# What a suite's rows amount to: summaries, changes since an earlier run, and bounds that are not kept.


@dataclass(frozen=True)
class Compared:
    """The differences from an `older` run. `undecided` rows have no interval on either side (one round).

    Rows `on_other_hardware` were measured on different machines, or it is not known of one on which.
    """

    older: str
    differences: tuple[Difference, ...]
    undecided: int
    on_other_hardware: int

    @property
    def worse(self) -> list[Difference]:
        """Those that fail a build."""
        return [each for each in self.differences if each.change in WORSE]


@dataclass(frozen=True)
class JudgedSuite:
    """A run of a suite, and what it amounts to."""

    run: SuiteRun
    summaries: tuple[BackendSummary, ...]
    compared: Compared | None
    beyond: tuple[BrokenBound, ...]


def judged(run: SuiteRun, older: str | None, before: Sequence[ProgramResult]) -> JudgedSuite:
    """`before` are the results of an `older` run, if there is one."""
    summaries = summarize(run.results)
    compared = None
    if older is not None:
        after = run.results
        if run.is_interrupted:  # what was not run yet is not gone
            done = {result.program for result in after}
            before = [result for result in before if result.program in done]
        compared = Compared(
            older,
            differences(before, after),
            undecided(before, after),
            on_other_hardware(before, after),
        )
    bounds = {program.name: program.bounds for program in run.suite.programs}
    of_programs = (broken_bounds_of_program(result, bounds[result.program]) for result in run.results)
    of_all = broken_bounds_of_suite(summaries, pass_rates(run.results), run.suite.bounds)
    beyond = (*chain(*of_programs), *(() if run.is_interrupted else of_all))
    return JudgedSuite(run, summaries, compared, beyond)
