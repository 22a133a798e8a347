"""`dynamo bench`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from click.core import ParameterSource

from dynamo_core.bench.measured import EAGER, Bench
from dynamo_core.bench.runs import CHAIN_MARK, Plan, bench, first_request, requests_for
from dynamo_core.launch.program import Program
from dynamo_core.launch.run import Request
from dynamo_core.shared.backend_choice import parse_chain
from dynamo_core.shared.errors import CannotRecord, Disagreement
from dynamo_core.shared.settings import CAPTURING_POLICIES, VERIFY_ERROR, VERIFY_REPORT, Settings

from . import main
from .on_option import on_option
from .options import (
    VERIFY_OFF,
    OptionWithOptionalValue,
    autotune_file_option,
    capture_option,
    completed_by,
    documented_option,
    dynamic_option,
    python_option,
    shared_option,
    step_option,
    time_limit_option,
)
from .program import BUDGET, ProgramCommand, program_of
from .repeated_runs import refuse_stdin
from .report_output import FORMATS, Output, write_report, writes_report
from .running import RunProgress
from .suite_command import SuiteFiles, bench_suite

_ROUNDS, _MOST_ROUNDS = 5, 15


_FURTHER = {
    BUDGET,
    "compare",
    "step",
    "results",
    "again",
    "on",
    "recordings",
    "python",
    "capture",
    "dynamic",
    "autotune_file",
}


@click.command("bench", cls=ProgramCommand, further=frozenset(_FURTHER))
@shared_option(
    "--backends",
    default="eager,inductor",
    metavar="NAME[,NAME…]",
    shell_complete=completed_by("chain"),
    help="What to compare, as --backend of `dynamo run` names them; of a chain, A+B+C. Eager, which is the "
    "program without Dynamo, is always among them.",
)
@shared_option(
    "--repeat",
    type=click.IntRange(min=1, max=1000),
    metavar="N",
    help="How many rounds; in each, every backend runs once.  [default: 5, and up to 15 until they decide]",
)
@documented_option(
    "--verify",
    cls=OptionWithOptionalValue,
    bare=VERIFY_REPORT,
    type=click.Choice((VERIFY_OFF, VERIFY_REPORT, VERIFY_ERROR)),
    default=VERIFY_REPORT,
    help="Run each backend once more, not timed, with its graphs beside eager (report); fail for a backend "
    "that fails as well (--verify=error); or leave that out (--verify=off).",
)
@documented_option(
    "--suite",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Run all programs of a suite.toml, or of a folder.",
)
@documented_option(
    "--results",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where the results of a suite are kept, program by program: what is there is not measured again.  "
    "[default: .dynamo/suite-NAME]",
)
@documented_option("--again", is_flag=True, help="Measure all of a suite again, whatever is kept.")
@documented_option(
    "--compare",
    type=click.Path(path_type=Path),
    metavar="OLDER",
    help="Compare a suite with an earlier run of it: its folder of results or its JSON report.",
)
@on_option("each program of a suite")
@shared_option(
    "--per-graph",
    is_flag=True,
    help="Measure each graph under each backend as well: on its own, as `dynamo autotune` does.",
)
@step_option
@time_limit_option(
    "Stop a run that takes longer; that is its result.  [default: none]", None, envvar="DYNAMO_TIME_LIMIT"
)
@writes_report(
    (*FORMATS, "csv"),
    "A page to read, the same as markdown, a versioned JSON document, or a row for each backend (csv)",
    endings={".csv": "csv"},
)
@shared_option(
    "--recordings",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Keep the recording and the output of every run in DIR, which must be new or empty.",
)
@python_option
@capture_option(
    CAPTURING_POLICIES,
    "What to compile in a program that does not call torch.compile itself, as for `dynamo run`.",
)
@dynamic_option
@autotune_file_option
@click.pass_context
def bench_command(
    ctx: click.Context,
    /,
    backends: str,
    repeat: int | None,
    verify: str,
    suite: Path | None,
    results: Path | None,
    again: bool,
    compare: Path | None,
    on: str | None,
    per_graph: bool,
    step: str | None,
    time_limit: float | None,
    out: Output,
    recordings: Path | None,
    python: str | None,
    capture: str,
    dynamic: bool | None,
    autotune_file: Path | None,
) -> None:
    """Run a program under several backends, and compare: time, speed-up, agreement with eager.

    The program may be in any form that `dynamo run` takes, but for stdin, and may call torch.compile itself
    or not. Each run is a process of its own, which reads nothing; the backends take turns. Each has an empty
    cache for its first round, whose compile time is the cold one.

    The exit code is 117 where a backend disagrees with eager, and with --verify=error also where one fails;
    115 where the program fails under eager; else 0, whatever became of the others. Of a suite, it is 112
    where a bound of suite.toml is not kept, or a program is slower than in OLDER beyond both intervals, or
    newly fails; 115 where no program could be measured.

    A suite's results are kept as soon as a program is done, so the same command goes on where it was ended.
    With --on ray, each program is a task of a Ray cluster: all its runs are on one machine, which its rows
    name. What --backends, --repeat, --time-limit, --capture and --step say comes before what suite.toml says.

    \b
    Examples:
      dynamo bench train.py
      dynamo bench --backends eager,inductor,inductor:max-autotune train.py --epochs 1
      dynamo bench --suite suite.toml --compare main.json -o speedups.html
      dynamo bench --backends ofi+inductor,mine.py:backend --repeat 10 -o speedups.csv infer.py
    """
    settings = Settings(
        recording="",
        capture=capture,
        dynamic=dynamic,
        autotune_file=None if autotune_file is None else str(autotune_file.absolute()),
    )
    main.end_early_on_sigterm()
    if suite is not None:
        bench_suite(ctx, SuiteFiles(suite, results, again, compare, on, out), settings, python, verify)
        return
    _refuse_suite_options(ctx)
    program = _program(ctx)
    names = _names(backends)
    request = Request(program, settings, python=python)
    requests = requests_for(request, names)
    with _folders(recordings) as (kept, caches), RunProgress() as progress:
        plan = Plan(
            first=first_request(request),
            requests=requests,
            rounds=repeat or _ROUNDS,
            most_rounds=repeat or _MOST_ROUNDS,
            recordings=kept,
            caches=caches,
            verify=verify != VERIFY_OFF,
            per_graph=per_graph,
            step=step,
            time_limit=time_limit,
        )
        result = bench(plan, progress.announce)
    result.recordings = None if recordings is None else str(recordings)
    _write(result, out)
    if result.is_interrupted:
        ctx.exit(main.exit_code())
    _raise_if_wrong(result, fails_count=verify == VERIFY_ERROR)


def _refuse_suite_options(ctx: click.Context) -> None:
    for name in ("results", "again", "compare", "on"):
        if ctx.params[name] and ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name} goes with --suite")


def _program(ctx: click.Context) -> Program:
    program = program_of(ctx)
    if program is None:
        raise click.UsageError("name the program to run: dynamo bench SCRIPT [ARGS]...")
    refuse_stdin(program, ctx)
    return program


def _names(backends: str) -> list[str]:
    """The backends, eager first, each once."""
    names = [name.strip() for name in backends.split(",")]
    for name in names:
        try:
            parse_chain(name.replace(CHAIN_MARK, ","))
        except ValueError as error:
            raise click.UsageError(f"--backends: {error}") from error
    return list(dict.fromkeys([EAGER, *names]))


@contextmanager
def _folders(recordings: Path | None) -> Iterator[tuple[Path, Path]]:
    """A folder for recordings, and one for caches, which is removed at the end."""
    if recordings is not None:
        try:
            recordings.parent.mkdir(parents=True, exist_ok=True)
            recordings.mkdir(0o700, exist_ok=True)
            if any(recordings.iterdir()):
                raise CannotRecord(f"{recordings} is not empty; name a new folder with --recordings")
        except OSError as error:
            raise CannotRecord(f"cannot record to {recordings}: {error.strerror}") from error
    with TemporaryDirectory(prefix="dynamo-bench-", ignore_cleanup_errors=True) as scratch:
        yield (recordings or Path(scratch)).absolute(), Path(scratch, "caches")


def _write(result: Bench, out: Output) -> None:
    from dynamo_reporters.bench import report
    from dynamo_reporters.bench_document import speedups_csv

    if out.form == "csv":
        out.put(speedups_csv(result))
    else:
        write_report(report(), result, out)


def _raise_if_wrong(result: Bench, *, fails_count: bool) -> None:
    for backend in result.backends[1:]:
        if fails_count and backend.problem is not None:
            raise Disagreement(f"{backend.name} fails: {backend.problem}")
        if backend.agreement.verdict == "disagrees":
            raise Disagreement(f"{backend.name} disagrees with eager: {backend.agreement.detail}")
