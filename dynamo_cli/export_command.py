"""`dynamo export`."""

import signal
from pathlib import Path

import click

from dynamo_core.exports.modules import Exports, exports_of, save_exported, wait_for_trials
from dynamo_core.launch.process import Ending, end_like
from dynamo_core.launch.program import Program
from dynamo_core.launch.run import Request
from dynamo_core.recording.read import read
from dynamo_core.shared.errors import DynamoError
from dynamo_core.shared.settings import ExportSettings, Settings

from .main import end_early_on_sigterm
from .options import (
    checked_config,
    config_option,
    documented_option,
    force_option,
    python_option,
    recording_option,
    time_limit_option,
    written_file_option,
)
from .program import program_of
from .report_command import ReportCommand, is_to_be_run, named_recording
from .report_output import Output, format_of, format_option, write_report
from .running import run_program, say

_PROGRAM_ENDING = ".pt2"  # torch's own, of an exported program and of AOTInductor's package


@click.command("export", cls=ReportCommand, further=frozenset({"force", "config", "python", "output"}))
@documented_option(
    "--aoti",
    is_flag=True,
    help="Compile what exports with AOTInductor; -o FILE.pt2 then writes its package.",
)
@time_limit_option("For each trial of a module; one that takes longer is ended.", 60.0)
@documented_option(
    "--most-modules",
    type=click.IntRange(min=1),
    default=10,
    metavar="N",
    help="Try so many of the modules that are called, the first ones.",
)
@format_option()
@written_file_option(
    *("-o", "--output", "file"),
    envvar="DYNAMO_REPORT",
    text="FILE.pt2: write the exported program to it, several to a folder of that name. Another FILE: write "
    "the report to it instead of stdout.",
)
@recording_option("--recording")
@force_option
@python_option
@config_option
@click.pass_context
def export_command(
    ctx: click.Context,
    /,
    aoti: bool,
    time_limit: float,
    most_modules: int,
    form: str | None,
    file: Path | None,
    output: Path | None,
    force: bool,
    python: str | None,
    config: tuple[str, ...],
) -> None:
    """Say which modules of a program torch.export takes, with which sizes dynamic, and what is in the way.

    The program runs as it is, eager where it calls torch.compile, its stdout on stderr. Each module that its
    code calls is tried afterwards, in copies of the process: torch.export.export, strict and not, with
    dynamic_shapes from the sizes of all calls; draft_export and Dynamo's graph breaks where that fails. What
    exports runs beside eager, on the inputs of the calls.

    TARGET is a program in any form of `dynamo run`, the recording of an earlier `dynamo export`, or a trace
    that torch wrote of exports (TORCH_DTRACE, draft_export). The exit code is the program's; 108 where -o
    FILE.pt2 has nothing to write.

    \b
    Examples:
      dynamo export infer.py
      dynamo export -o model.pt2 infer.py --batch 4
      dynamo export --aoti -o model.pt2 infer.py
    """
    program = program_of(ctx)
    wants_program = file is not None and file.suffix == _PROGRAM_ENDING
    report_file = None if wants_program else file
    out = Output(format_of(form, report_file), report_file)
    ending: Ending | None = None
    if program is not None and is_to_be_run(program):
        export = ExportSettings(time_limit, most_modules, wants_program, aoti)
        path, ending = _run(program, export, output, force, python, config)
    elif wants_program:
        raise click.UsageError(f"-o {file}: only a program that is run gives exported programs: name one")
    else:
        path = named_recording(program)
    exports = exports_of(read(path))
    _write(exports, path, out)
    went_well = ending is None or ending == Ending(0, None)
    if wants_program and file is not None:
        try:
            for written in save_exported(exports.modules, path, file, packages=aoti):
                say(f"dynamo: wrote {written}")
        except DynamoError as error:
            if went_well:
                raise
            say(f"dynamo: {error}")
    if ending is not None and not went_well:
        end_like(ending)


def _run(
    program: Program,
    export: ExportSettings,
    output: Path | None,
    force: bool,
    python: str | None,
    config: tuple[str, ...],
) -> tuple[Path, Ending]:
    """Run the program, then wait for the trials; from here on Ctrl-C is ours again."""
    settings = Settings(
        recording="",
        capture="none",
        config=checked_config(config),
        export=export,
    )
    request = Request(program, settings, output, force, python, stdout_to_stderr=True)
    outcome = run_program(request, quiet=False)
    end_early_on_sigterm()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signal.valid_signals())
    try:
        wait_for_trials(outcome.recording, lambda line: say(f"dynamo: {line}"))
    except KeyboardInterrupt:
        say(f"dynamo: interrupted; `dynamo export {outcome.recording}` shows what was tried")
        raise
    return outcome.recording, outcome.ending


def _write(exports: Exports, recording: Path, out: Output) -> None:
    from dynamo_reporters.export import report

    write_report(report(recording), exports, out)
