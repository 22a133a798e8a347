"""Run a suite, one program after another, and judge the results.

A failure in a program's runs becomes a row; it never ends the suite.
"""

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
_QUERY = """
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
_QUERY_LIMIT = 60.0  # seconds


@dataclass(frozen=True)
class Installed:
    """The version of torch, and missing modules. Torch is None where there is none, or no answer."""

    torch: str | None = None
    missing: frozenset[str] = frozenset()


def installed(python: str, modules: Collection[str]) -> Installed:
    """Ask `python` for its torch and which of the modules it lacks."""
    try:
        answer = subprocess.run(
            [python, "-c", _QUERY, *sorted(modules)],
            capture_output=True,
            text=True,
            timeout=_QUERY_LIMIT,
            stdin=subprocess.DEVNULL,
            check=True,
        ).stdout
        torch, missing = json.loads(answer.strip().splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return Installed()  # the programs themselves will report what is wrong
    return Installed(torch, frozenset(missing))


# Environment variables that change the figures of a program.
_ENVIRONMENT = ("OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES")
HERE = "here"
_LARGEST_SCRIPT = 16 << 20  # bytes


@dataclass(frozen=True)
class SuiteOptions:
    """How all programs are run. With `verify`, once more without timing, each graph beside eager."""

    settings: Settings
    python: str
    verify: bool = True


@dataclass
class SuiteRun:
    """The results of a suite's programs, in order; `kept` is how many are from an earlier run."""

    suite: Suite
    results: list[ProgramResult]
    installed: Installed
    kept: int = 0
    is_interrupted: bool = False


@dataclass(frozen=True)
class Watcher:
    """Callbacks on progress. `announce` gets a program, what runs next, and the remaining time if known.

    `ended` gets a result. On a cluster, `count` gets how many programs are done, and `tell` other messages.
    """

    announce: Callable[[SuiteProgram, str, str | None], None]
    ended: Callable[[ProgramResult], None]
    count: Callable[[int], None]
    tell: Callable[[str], None]


def check_suite(suite: Suite, options: SuiteOptions) -> None:
    """Raise BackendProblem, or another DynamoError, for what keeps every run of a program from starting."""
    checked: set[tuple[str, ...]] = set()
    for program in suite.programs:
        if program.choices.backends not in checked:  # a check may start a process that imports torch
            checked.add(program.choices.backends)
            requests_for(_request(program, options), program.choices.backends)


def run_suite(suite: Suite, options: SuiteOptions, folder: ResultsFolder, watcher: Watcher) -> SuiteRun:
    """Run the programs without stored results. KeyboardInterrupt ends it early, with the results so far."""
    has = installed(options.python, {module for program in suite.programs for module in program.needs})
    run = SuiteRun(suite, [], has)
    try:
        for program in suite.programs:
            key = key_of(program, options, has)
            result = folder.result(program.name, key)
            if result is not None:
                run.kept += 1
                run.results.append(result)
                continue
            target = folder.new_folder(program.name)
            announce = partial(watcher.announce, program)
            result = run_program(program, options, has, key, target, announce)
            folder.keep(result)
            run.results.append(result)
            watcher.ended(result)
    except KeyboardInterrupt:
        run.is_interrupted = True
    return run


def run_program(
    program: SuiteProgram,
    options: SuiteOptions,
    has: Installed,
    key: str,
    folder: Path,
    announce: Callable[[str, str | None], None],
) -> ProgramResult:
    """Measure a program in processes of its own; an interrupt raises KeyboardInterrupt.

    It needs nothing but its arguments and a folder to write to, so that it can run on other machines.
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
        request = _request(program, options)
        plan = Plan(
            first=first_request(request),
            requests=requests_for(request, choices.backends),
            rounds=choices.repeat,
            most_rounds=choices.repeat,
            recordings=folder,
            caches=caches,
            verify=options.verify,
            step=choices.step,
            time_limit=choices.time_limit,
        )
        found = bench(plan, lambda what, done, in_all, remaining: announce(what, remaining))
        if found.is_interrupted:
            raise KeyboardInterrupt
        rows = rows_of(found, folder)
        if found.machine is not None:
            result = replace(result, machine=replace(found.machine, torch=found.machine.torch or has.torch))
    except CannotRecord:  # a full disk is not the program's fault
        raise
    except NotMeasured as error:
        problem = str(error).removeprefix(f"{program.program.name} ")
        rows = rows_without_figures(choices.backends, problem, _last_log(folder))
    except DynamoError as error:
        rows = rows_without_figures(choices.backends, str(error), None)
    finally:
        shutil.rmtree(caches, ignore_errors=True)
    return replace(result, rows=rows, took_seconds=time.monotonic() - began, finished=now())


def suite_options(settings: Settings, python: str | None, *, verify: bool) -> SuiteOptions:
    """The options for running programs with this Python, or else the default one."""
    return SuiteOptions(settings, python or default_python(), verify)


def _request(program: SuiteProgram, options: SuiteOptions) -> Request:
    settings = options.settings._replace(capture=program.choices.capture)
    return Request(program.program, settings, python=options.python)


def key_of(program: SuiteProgram, options: SuiteOptions, has: Installed, place: str = HERE) -> str:
    """A digest of all that a program's rows depend on, as far as it can be known without running it."""
    missing = sorted(has.missing & set(program.needs))
    environment = {name: os.environ.get(name) for name in _ENVIRONMENT}
    arguments = program.program.arguments
    choices = asdict(program.choices)
    if place == HERE:  # where they have no effect
        del choices["cpus"], choices["gpus"]
    parts = [arguments, choices, options.python, options.verify, options.settings._asdict(), place]
    return sha256(
        json.dumps([*parts, has.torch, missing, environment, _digest(arguments[0])]).encode()
    ).hexdigest()


def _digest(script: str) -> str | None:
    """A digest of the script's content; None where it is no script."""
    try:
        file = Path(script)
        return sha256(file.read_bytes()).hexdigest() if file.stat().st_size <= _LARGEST_SCRIPT else None
    except (OSError, ValueError):
        return None


def _last_log(folder: Path) -> str | None:
    """The file with the stderr of the last run."""
    logs = sorted(folder.glob("*.stderr"), key=lambda file: file.stat().st_mtime_ns)
    return log_name(folder, logs[-1].name) if logs else None


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
        """The differences that fail a build."""
        return [each for each in self.differences if each.change in WORSE]


@dataclass(frozen=True)
class JudgedSuite:
    """A run of a suite with its evaluation; `beyond` are the broken bounds."""

    run: SuiteRun
    summaries: tuple[BackendSummary, ...]
    compared: Compared | None
    beyond: tuple[BrokenBound, ...]


def judge_suite(run: SuiteRun, older: str | None, before: Sequence[ProgramResult]) -> JudgedSuite:
    """Evaluate a run. `before` are the results of an `older` run, if there is one."""
    summaries = summarize(run.results)
    compared = None
    if older is not None:
        after = run.results
        if run.is_interrupted:  # programs that did not run yet are not gone
            done = {result.program for result in after}
            before = [result for result in before if result.program in done]
        compared = Compared(
            older,
            differences(before, after),
            undecided(before, after),
            on_other_hardware(before, after),
        )
    bounds = {program.name: program.bounds for program in run.suite.programs}
    broken_by_programs = (broken_bounds_of_program(result, bounds[result.program]) for result in run.results)
    broken_by_all = broken_bounds_of_suite(summaries, pass_rates(run.results), run.suite.bounds)
    beyond = (*chain(*broken_by_programs), *(() if run.is_interrupted else broken_by_all))
    return JudgedSuite(run, summaries, compared, beyond)
