"""`dynamo bench --suite`."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from dynamo_core.analysis.words import number, seconds
from dynamo_core.bench.suite.file import Suite, SuiteProgram, backend_names, read_suite
from dynamo_core.bench.suite.results import ResultsFolder, read_results, results_folder
from dynamo_core.bench.suite.rows import ProgramResult, Row
from dynamo_core.bench.suite.runner import (
    JudgedSuite,
    SuiteRun,
    Watcher,
    check_suite,
    judge_suite,
    run_suite,
    suite_options,
)
from dynamo_core.recording.files import DEFAULT_FOLDER, default_folder
from dynamo_core.shared.errors import Disagreement, GotWorse, NotMeasured
from dynamo_core.shared.quick_dataclass import dataclass
from dynamo_core.shared.settings import VERIFY_ERROR, Settings

from . import main
from .on_option import cluster
from .options import VERIFY_OFF
from .program import program_of
from .report_output import Output, put, write_report
from .running import RunProgress

_OF_ONE_PROGRAM = ("per_graph", "recordings")
# What the command line says comes before the suite's file.
_COMES_FIRST = ("backends", "repeat", "time_limit", "capture", "step")


@dataclass(frozen=True)
class SuiteFiles:
    """Where a suite is read from, `on` what it is measured, and where its results and its report go."""

    suite: Path
    results: Path | None
    again: bool
    compare: Path | None
    on: str | None
    out: Output


def bench_suite(
    ctx: click.Context, files: SuiteFiles, settings: Settings, python: str | None, verify: str
) -> None:
    """Run the suite and report, as `dynamo bench --help` says."""
    _refuse_options_of_one_program(ctx)
    suite = read_suite(files.suite, _given(ctx))
    before = [] if files.compare is None else read_results(files.compare)
    if files.results is None:
        default_folder()
    path = files.results or DEFAULT_FOLDER / f"suite-{suite.name}"
    with (
        _measuring(suite, path, files.on, settings, python, verify != VERIFY_OFF) as measure,
        results_folder(path, suite.name, starts_over=files.again) as folder,
    ):
        with RunProgress("program") as progress:
            run = measure(folder, _watcher(progress, suite))
        _write_csv(folder, run.results)
    found = judge_suite(run, None if files.compare is None else str(files.compare), before)
    _write(found, files, path)
    if run.is_interrupted:
        ctx.exit(main.exit_code())
    _raise_if_wrong(found, fails_count=verify == VERIFY_ERROR)


@contextmanager
def _measuring(
    suite: Suite, results: Path, on: str | None, settings: Settings, python: str | None, verify: bool
) -> Iterator[Callable[[ResultsFolder, Watcher], SuiteRun]]:
    """What runs the suite, here or on a cluster; what it could not run at all is said now."""
    if on is None:
        means = suite_options(settings, python, verify=verify)
        check_suite(suite, means)
        yield partial(run_suite, suite, means)
        return
    from dynamo_core.bench.suite.cluster import check_suite_on, run_suite_on

    in_suite = os.path.relpath(results, suite.folder)
    not_sent = [] if in_suite.startswith("..") else [in_suite]
    with cluster(on, suite.folder, not_sent) as ray:
        check_suite_on(ray, suite)
        yield lambda folder, watcher: run_suite_on(
            ray,
            suite,
            settings,
            python,
            place=on,
            verify=verify,
            folder=folder,
            watcher=watcher,
        )


def _refuse_options_of_one_program(ctx: click.Context) -> None:
    program = program_of(ctx)
    if program is not None:
        raise click.UsageError(
            f"--suite names the programs; {program.arguments[0]} is one more: which of the two is meant?"
        )
    for name in _OF_ONE_PROGRAM:
        if ctx.params[name]:
            raise click.UsageError(f"--{name.replace('_', '-')} is for one program, and not for a suite")


def _given(ctx: click.Context) -> dict[str, Any]:
    """What the command line or the environment says, by the keys of the suite's file."""
    given = {
        name.replace("_", "-"): ctx.params[name]
        for name in _COMES_FIRST
        if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT
    }
    if "backends" in given:
        names = [name.strip() for name in given["backends"].split(",")]
        given["backends"] = backend_names(names, "--backends")
    return given


def _watcher(progress: RunProgress, suite: Suite) -> Watcher:
    places = {program.name: place for place, program in enumerate(suite.programs)}

    def announce(program: SuiteProgram, what: str, remaining: str | None) -> None:
        of_it = None if remaining is None else f"{remaining} for it"
        progress.announce(f"{program.name}: {what}", places[program.name], len(places), of_it)

    def ended(result: ProgramResult) -> None:
        progress.say(f"dynamo: {result.program}: {_in_a_line(result)}")

    def count(done: int) -> None:
        if done < len(places):
            progress.announce("measuring on the Ray cluster", done, len(places))

    def tell(line: str) -> None:
        progress.say(f"dynamo: {line}")

    return Watcher(announce, ended, count, tell)


def _in_a_line(result: ProgramResult) -> str:
    if result.skipped is not None:
        return f"not run, {result.skipped}"
    rows = [row for row in result.rows if not row.is_eager] or result.rows
    outcomes = list(dict.fromkeys(_outcome(row) for row in rows))
    return f"{'; '.join(outcomes)} ({seconds(result.took_seconds)})"


def _outcome(row: Row) -> str:
    if row.outcome == "failed":
        return f"failed: {row.problem}"
    if row.outcome == "disagrees":
        return f"{row.backend} disagrees with eager"
    return f"{row.backend} passed" if row.speed_up is None else f"{row.backend} {row.speed_up.mean:.2f}"


def _write_csv(folder: ResultsFolder, results: Sequence[ProgramResult]) -> None:
    from dynamo_reporters.suite import suite_csv

    put(suite_csv(results), folder.path / "speedups.csv")


def _write(found: JudgedSuite, files: SuiteFiles, path: Path) -> None:
    from dynamo_reporters.suite import report, suite_csv

    if files.out.form == "csv":
        files.out.put(suite_csv(found.run.results))
    else:
        write_report(report(str(path)), found, files.out)


def _raise_if_wrong(found: JudgedSuite, *, fails_count: bool) -> None:
    results = found.run.results
    if not any(row.has_passed for result in results for row in result.rows):
        raise NotMeasured(f"no program of the suite {found.run.suite.name} could be measured")
    if found.beyond:
        first = found.beyond[0]
        others = f"; {number(len(found.beyond) - 1, 'bound')} more" if len(found.beyond) > 1 else ""
        raise GotWorse(
            f"{first.subject}: {first.bound} = {first.limit:g} is not kept, found {first.found}{others}"
        )
    if found.compared is not None and found.compared.worse:
        worse, older = found.compared.worse[0], found.compared.older
        raise GotWorse(f"{worse.program} under {worse.backend} is {worse.change} since {older}")
    for result in results:
        for row in result.rows:
            if row.outcome == "disagrees":
                raise Disagreement(
                    f"{result.program}: {row.backend} disagrees with eager: {row.agreement_detail}"
                )
            if row.outcome == "failed" and fails_count:
                raise Disagreement(f"{result.program}: {row.backend} fails: {row.problem}")
