"""`dynamo repro`."""

import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from dynamo_core.findings import CONTENTS
from dynamo_core.fix.trial import script_of
from dynamo_core.launch.process import Unattended
from dynamo_core.launch.run import Request, record
from dynamo_core.recording.read import read
from dynamo_core.repro.failure import shows_a_failure
from dynamo_core.repro.proof import scratch_folder
from dynamo_core.repro.result import Repro, issue_beside
from dynamo_core.repro.search import Of, Plan, parse_of, reproduce
from dynamo_core.shared.errors import NotReproduced
from dynamo_core.shared.settings import VERIFY_STAGE

from . import main
from .durations import seconds
from .options import RUN_OPTIONS, documented_option, run_options, written_file_option
from .program import program_of
from .repeated_runs import ask_to_run, requested_again
from .report_command import ReportCommand
from .report_output import Output, format_option, put, write_report
from .running import say

_ISSUE_BEGINS = b"# torch.compile: "


def _parsed_of(ctx: click.Context, parameter: click.Parameter, value: str | None) -> Of:
    try:
        return Of() if value is None else parse_of(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@click.command("repro", cls=ReportCommand, further=RUN_OPTIONS)
@written_file_option(
    *("-o", "--output", "repro_file"),
    default=Path("repro.py"),
    text="Write the program to FILE, issue.md (of small.py: small-issue.md) beside it.  [default: repro.py]",
)
@documented_option(
    "--of",
    metavar="WHAT",
    callback=_parsed_of,
    help="What to reproduce: graph:N, break:N, recompile:N, exception or wrong-result.  "
    "[default: the first thing that is wrong]",
)
@documented_option(
    "--budget",
    callback=seconds,
    default="10m",
    metavar="TIME",
    help="End within: 90s, 10m, 1h. What is found is run alone once at least, if need be beyond it.  "
    "[default: 10m]",
)
@documented_option(
    "--values",
    is_flag=True,
    help="Take values that the program has, where the failure needs them; else they are random numbers.",
)
@documented_option(
    "--torch",
    "versions",
    metavar="V,V",
    help="Run the program with these versions of torch as well, in environments of uv's: 2.9,2.10,nightly.",
)
@documented_option("-y", "--yes", is_flag=True, help="Do not ask before the program is run.")
@format_option(has_budget=False)
@run_options("--recordings")
@click.pass_context
def repro_command(
    ctx: click.Context,
    /,
    repro_file: Path,
    of: Of,
    budget: float,
    values: bool,
    versions: str | None,
    yes: bool,
    form: str | None,
    output: Path | None,
    **options: Any,
) -> None:
    """Make a small file that fails alone of a program that torch.compile gets wrong, or crashes on.

    The failing graph, as Dynamo captured it, or else the script is made smaller as long as it fails in the
    same way: each trial in a process of its own, compiled and in plain Python. What is left is run twice
    alone. Beside it, issue.md has what PyTorch's form for issues asks.

    TARGET is a recording that was made here, or without one the newest in .dynamo. Or it is a program, named
    as FILE.py, -m MODULE, -c CODE or -- COMMAND, which is then run with --verify. A search that was ended
    goes on where it was when the same command is given again.

    \b
    Examples:
      dynamo repro train.py
      dynamo repro --of exception -o small.py train.py
      dynamo repro --budget 20m --torch 2.9,nightly
    """
    _refuse_own_files(ctx, repro_file)
    main.end_early_on_sigterm()
    with scratch_folder() as scratch:
        inputs = Path(scratch, "inputs") if values else None
        request, recording, spent = _recorded(ctx, of, budget, yes, options, Path(scratch), inputs)
        names = tuple(filter(None, (versions or "").split(",")))
        plan = Plan(request, recording, of, budget, names, inputs, spent)
        try:
            found = reproduce(plan, lambda what: say(f"dynamo: {what}"))
        except KeyboardInterrupt:
            say("dynamo: interrupted, nothing is written: the same command goes on where it was")
            raise
        _write(found, repro_file, Output(form or "text"))
    if not found.is_proven:
        raise NotReproduced(f"{repro_file} does not fail alone each time: see what it says of its runs")


def _refuse_own_files(ctx: click.Context, repro_file: Path) -> None:
    """UsageError where what would be replaced is the program, or nothing that this command has written."""
    is_named = ctx.get_parameter_source("repro_file") is ParameterSource.COMMANDLINE
    if repro_file.exists() and not (is_named or issue_beside(repro_file).exists()):
        raise click.UsageError(
            f"{repro_file} is there already: add `-o {repro_file}` to replace it, or name another"
        )
    program = program_of(ctx)
    script = None if program is None else script_of(program)
    if script is not None and repro_file.exists() and repro_file.samefile(script):
        raise click.UsageError(f"-o {repro_file} is the program itself: name another file")
    issue = issue_beside(repro_file)
    if issue.exists() and not issue.read_bytes().startswith(_ISSUE_BEGINS):
        raise click.UsageError(
            f"{issue} is there and not of `dynamo repro`: move it, or name a file in another folder with -o"
        )


def _recorded(
    ctx: click.Context,
    of: Of,
    budget: float,
    yes: bool,
    options: dict[str, Any],
    scratch: Path,
    inputs: Path | None,
) -> tuple[Request, Path, float]:
    """What was or is to be run, its recording, and the seconds that this took.

    The recording is made where there is none that shows a failure.
    """
    request, recording = requested_again(ctx, options)
    if not yes:
        ask_to_run(request, "as a whole or in parts, many times")
    if inputs is not None:
        inputs.mkdir()
        request = replace(request, settings=request.settings._replace(save_inputs=str(inputs)))
    began = time.monotonic()
    if recording is not None and inputs is None:
        if of.what not in ("any", "wrong-result") or shows_a_failure(read(recording, CONTENTS)):
            return request, recording, time.monotonic() - began
        say(f"dynamo: {recording} shows no failure: its program is run again with --verify")
    recording = _run(request, scratch, budget)
    return request, recording, time.monotonic() - began


def _run(request: Request, scratch: Path, budget: float) -> Path:
    """Run the program beside plain Python, and return its recording."""
    say("dynamo: run with --verify")
    settings = request.settings._replace(verify=request.settings.verify or VERIFY_STAGE)
    unattended = Unattended(scratch / "stdout", scratch / "stderr", {}, budget / 2, 1 << 20)
    asked = replace(request, settings=settings, output=scratch / "recording")
    return record(asked, announce=lambda note: None, unattended=unattended).recording


def _write(found: Repro, repro_file: Path, out: Output) -> None:
    from dynamo_reporters.repro import issue_text, report

    write_report(report(str(repro_file)), found, out)  # first: it has the program as well
    put(found.text, repro_file)
    if found.values_file is not None:
        shutil.copyfile(found.values_file, f"{repro_file}.pt")
    put(issue_text(found, repro_file.name), issue_beside(repro_file))
