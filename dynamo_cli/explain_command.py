"""`dynamo explain`."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from dynamo_core.errors import CannotRecord, NoRecording
from dynamo_core.launch.process import Ending, end_like
from dynamo_core.recording import files

from .program_command import ProgramCommand, program_of
from .run_options import documented_option, request_from, run_options


@click.command("explain", cls=ProgramCommand)
@documented_option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    envvar="DYNAMO_FORMAT",
    help="A page to read, or a versioned JSON document.",
)
@documented_option(
    "-o",
    "--output",
    "report_file",
    type=click.Path(dir_okay=False, path_type=Path),
    envvar="DYNAMO_REPORT",
    metavar="FILE",
    help="Write the report to FILE instead of stdout.",
)
@run_options("--recording")
@click.pass_context
def explain_command(ctx: click.Context, /, form: str, report_file: Path | None, **options: Any) -> None:
    """Say what happened in a recording: what was captured, what it cost, what broke.

    The recording is a folder that `dynamo run` wrote, or a TORCH_TRACE file or folder; without one, the
    newest in .dynamo. Or it is a program, in any form that `dynamo run` takes: it is run first, with its
    stdout on stderr, so that stdout has the report alone; the exit code is then the program's.

    \b
    Examples:
      dynamo explain
      dynamo explain .dynamo/train-20260101-120000 --format json
      dynamo explain train.py --epochs 1
    """
    recording, ending, form, report_file = _target(ctx, form, report_file, options)
    _write_report(recording, form, report_file)
    if ending is not None:
        end_like(ending)


def _target(
    ctx: click.Context, form: str, report_file: Path | None, options: dict[str, Any]
) -> tuple[Path, Ending | None, str, Path | None]:
    """The recording to explain, after running the program if the target is one.

    Options may also stand behind the name of a recording, which takes no arguments of its own.
    """
    from .running import run_program

    program = program_of(ctx)
    if program is None:
        return files.newest(), None, form, report_file
    path = Path(program.arguments[0])
    if program.is_python and files.is_recording(path):
        if len(program.arguments) > 1:
            again = explain_command.make_context("explain", list(program.arguments[1:]), parent=ctx.parent)
            if program_of(again) is not None:
                raise click.UsageError(f"{path} is a recording: it takes no arguments")
            form = again.params["form"] if _given(again, "form") else form
            report_file = again.params["report_file"] or report_file
        return path, None, form, report_file
    if program.is_python and path.exists() and not _looks_like_a_program(path):
        return path, None, form, report_file  # reading it gives the error that fits
    if program.is_python and not path.exists() and not program.arguments[0].startswith("-"):
        raise NoRecording(f"there is no recording and no program at {path}")
    outcome = run_program(request_from(program, **options, stdout_to_stderr=True), quiet=False)
    return outcome.recording, outcome.ending, form, report_file


def _given(ctx: click.Context, parameter: str) -> bool:
    return ctx.get_parameter_source(parameter) is click.core.ParameterSource.COMMANDLINE


def _looks_like_a_program(path: Path) -> bool:
    if path.is_dir():
        return (path / "__main__.py").exists()
    return path.suffix not in (".log", ".gz", ".json", ".bin", ".txt", ".md")


def _write_report(recording_path: Path, form: str, report_file: Path | None) -> None:
    from dynamo_core.recording.read import read
    from dynamo_reporters.console import plain_text, show

    recording = read(recording_path)
    if form == "json":
        from dynamo_reporters.explain_document import explain_document

        content = json.dumps(explain_document(recording), indent=2) + "\n"
    else:
        from dynamo_reporters.explain import render_explain

        if report_file is None:
            show(sys.stdout, render_explain(recording))
            return
        content = plain_text(render_explain(recording))
    if report_file is None:
        sys.stdout.write(content)
        return
    try:
        report_file.write_text(content)
    except OSError as error:
        raise CannotRecord(f"cannot write {report_file}: {error.strerror}") from error
