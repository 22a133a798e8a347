"""Run a suite on a cluster: each program is a task, and all its runs are on one machine, in turn."""

import os
import tempfile
from dataclasses import replace
from pathlib import Path

from ...launch.program import Program
from ...shared.errors import CannotRecord, os_errors_as
from ...shared.masking import masked_arguments
from ...shared.settings import Settings
from ..ray_cluster import Lost, Needs, RayCluster, Task
from .file import Suite, SuiteProgram
from .results import ResultsFolder, now
from .rows import ProgramResult, rows_without_figures
from .runner import Installed, SuiteOptions, SuiteRun, Watcher, installed, key_of, run_program, suite_options


def check_suite_on(cluster: RayCluster, suite: Suite) -> None:
    """Raise ClusterProblem where the cluster has no machine for a program."""
    for program in suite.programs:
        cluster.check(program.name, _needs(program))


def run_suite_on(
    cluster: RayCluster,
    suite: Suite,
    settings: Settings,
    python: str | None,
    *,
    place: str,
    verify: bool,
    folder: ResultsFolder,
    watcher: Watcher,
) -> SuiteRun:
    """Run the programs without stored results, as many at once as there are machines for.

    `place` is the user's name of the cluster; `python` is that of its machines, None where it is found there.
    Results of programs that did not run, or only failed, are not stored, as a machine may lack what another
    has. KeyboardInterrupt ends it early.
    """
    options = SuiteOptions(settings, python or "", verify)
    found: dict[str, ProgramResult] = {}
    tasks: list[Task] = []
    keys = {program.name: key_of(program, options, Installed(), place) for program in suite.programs}
    for program in suite.programs:
        result = folder.result(program.name, keys[program.name])
        if result is not None:
            found[program.name] = result
            continue
        portable = replace(program, program=_with_relative_script(program.program, suite.folder))
        arguments = (portable, settings, python, verify, keys[program.name])
        tasks.append(Task(program.name, measure_here, arguments, _needs(program)))
    run = SuiteRun(suite, [], Installed(), kept=len(found))
    programs = {program.name: program for program in suite.programs}
    try:
        watcher.count(len(found))
        for task, answer in cluster.run(tasks, watcher.tell):
            target = folder.new_folder(task.name)
            if isinstance(answer, Lost):
                result = _lost(programs[task.name], keys[task.name], answer)
            else:
                result, files = answer
                result = replace(result, command=_command(programs[task.name]))
                _write_files(files, target)
                if any(row.outcome != "failed" for row in result.rows):
                    folder.keep(result)
            found[task.name] = result
            watcher.ended(result)
            watcher.count(len(found))
    except KeyboardInterrupt:
        run.is_interrupted = True
    run.results = [found[program.name] for program in suite.programs if program.name in found]
    versions = {result.machine.torch for result in run.results if result.machine is not None} - {None}
    run.installed = Installed(versions.pop() if len(versions) == 1 else None)
    return run


def measure_here(
    program: SuiteProgram, settings: Settings, python: str | None, verify: bool, key: str
) -> tuple[ProgramResult, dict[str, bytes]]:
    """On a worker, in the suite's folder: a program's result, and the files that its runs wrote."""
    program = replace(program, program=_with_absolute_script(program.program))
    options = suite_options(settings, python, verify=verify)
    with tempfile.TemporaryDirectory(prefix="dynamo-suite-") as scratch:
        folder = Path(scratch) / "runs" / program.name
        folder.mkdir(parents=True)
        has = installed(options.python, set(program.needs))
        result = run_program(program, options, has, key, folder, lambda what, remaining: None)
        return result, _read_files(folder)


def _needs(program: SuiteProgram) -> Needs:
    return Needs(program.choices.cpus, program.choices.gpus)


def _command(program: SuiteProgram) -> str:
    return " ".join(masked_arguments(program.program.arguments))


def _with_relative_script(program: Program, folder: Path) -> Program:
    """The program with its script relative to the suite's folder, which is sent; other paths stay."""
    first, *rest = program.arguments
    path, home = os.path.abspath(first), os.path.abspath(folder)
    if not program.is_python or first.startswith("-") or not Path(path).is_relative_to(home):
        return program
    return replace(program, arguments=(os.path.relpath(path, home), *rest))


def _with_absolute_script(program: Program) -> Program:
    """The program with its script in the working directory, on a worker."""
    first, *rest = program.arguments
    if not program.is_python or first.startswith("-"):
        return program
    return replace(program, arguments=(str(Path.cwd() / first), *rest))


def _lost(program: SuiteProgram, key: str, lost: Lost) -> ProgramResult:
    """Rows without figures, which are not stored, so that the same command tries again."""
    rows = rows_without_figures(program.choices.backends, f"its worker was lost each time: {lost.how}", None)
    return ProgramResult(program.name, _command(program), key, None, rows, 0.0, now())


def _read_files(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not file.is_symlink()
    }


def _write_files(files: dict[str, bytes], folder: Path) -> None:
    """Raise CannotRecord where they cannot be written, or one has a path outside of the folder."""
    with os_errors_as(CannotRecord, f"cannot write to {folder}"):
        for name, content in files.items():
            file = folder / name
            if not file.resolve().is_relative_to(folder.resolve()):
                raise CannotRecord(f"a worker sent a file for {name}, which is outside of {folder}")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
