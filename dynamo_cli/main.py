"""The command group, and the one place where an error becomes a line and an exit code."""

import errno
import importlib
import io
import os
import signal
import sys
from importlib.util import find_spec
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

import click

from dynamo_core import __version__
from dynamo_core.shared.errors import (
    EXIT_INTERNAL,
    EXIT_INTERRUPTED,
    EXIT_NOBODY_READS,
    EXIT_TERMINATED,
    EXIT_USAGE,
    CannotRecord,
    DynamoError,
    did_you_mean,
)
from dynamo_core.shared.names import RECORDING_VARIABLE
from dynamo_core.shared.shown_paths import show_paths_from, working_directory
from dynamo_core.shared.text import printable
from dynamo_reporters.registry import REPORTS

from .failure import Invocation

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# SIGTERM ends a command that has much to run as Ctrl-C does: with what is done until then.
#
# A CI job's end, or `timeout`, sends it: what took minutes to measure is not lost by that.


_code = EXIT_INTERRUPTED


def end_early_on_sigterm() -> None:
    """From now on SIGTERM raises KeyboardInterrupt, once.

    `timeout` of the GNU coreutils sends it twice, to the command and to its process group (timeout.c,
    cleanup): the second one must not cut the report short that the first one asked for.
    """
    signal.signal(signal.SIGTERM, _end_early)


def exit_code() -> int:
    """How a command ends that was interrupted: by Ctrl-C, or by SIGTERM if that has come."""
    return _code


def _end_early(number: int, frame: FrameType | None) -> None:
    global _code
    _code = EXIT_TERMINATED
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


COMMANDS = {
    "run": "Run a program as it is, and record what torch.compile makes of it.",
    "env": "Print the variables that let a launcher record its processes.",
    "report": "Make the page: one HTML file of a recording, to look at and to send.",
    **{name: report.summary for name, report in REPORTS.items() if report.summary},
    "bundle": "Put a recording into one file, to attach to an issue, with or without the source.",
    "ls": "List recordings.",
    "schema": "Print the JSON Schema of a report's document.",
    "mcp": "Serve these commands to a coding agent (Model Context Protocol).",
    "skill": "Print, or install into a project, what a coding agent needs to know.",
}

# Where a command's function is neither in a module of its name, `<name>_command`, nor in `report_commands`.
_MODULES = {
    "bundle": "page_command",
    "env": "run_command",
    "ls": "cache_command",
    "report": "page_command",
}
_FUNCTIONS = {"report": "page_command"}

# The command that packages of NVIDIA Dynamo, which serves language models, once installed under this name.
_OF_NVIDIAS = ("serve", "build", "deploy", "deployment")
_NOT_NVIDIAS = "this dynamo is for torch.compile, and not NVIDIA Dynamo, which `python -m dynamo.…` runs"

_CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


class _Commands(click.Group):
    """Imports a command's module when the command is used, so that `--help` is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        name = f"dynamo_cli.{_MODULES.get(cmd_name, f'{cmd_name}_command')}"
        module = importlib.import_module(
            name if find_spec(name) is not None else "dynamo_cli.report_commands"
        )
        command: click.Command = getattr(module, _FUNCTIONS.get(cmd_name, f"{cmd_name}_command"))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if ctx.resilient_parsing:  # a shell asks what may follow
            return super().resolve_command(ctx, args) if args[0] in COMMANDS else (None, None, [])
        if args and args[0] == "help":
            args = [*args[1:2], "--help"]
            if args == ["--help"]:
                click.echo(ctx.get_help())
                ctx.exit()
        if args and args[0] in _OF_NVIDIAS:
            raise click.UsageError(f"no such command {args[0]!r}; {_NOT_NVIDIAS}")
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            hint = did_you_mean(args[0], COMMANDS) or f"try `dynamo run {args[0]}`"
            raise click.UsageError(f"no such command {args[0]!r}; {hint}")
        name, command, rest = super().resolve_command(ctx, args)
        if isinstance(ctx.obj, Invocation):
            ctx.obj.command, ctx.obj.arguments = command, tuple(rest)
        return name, command, rest

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list["CompletionItem"]:
        """The commands, without importing each."""
        from click.shell_completion import CompletionItem

        found = [(name, what) for name, what in COMMANDS.items() if name.startswith(incomplete)]
        return [CompletionItem(name, help=what) for name, what in found]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Where there is more to read."""
        from .help_pages import write_documentation

        formatter.write_paragraph()
        write_documentation(formatter)


# An option that names no environment variable of its own has DYNAMO_<COMMAND>_<OPTION>.
@click.group(
    cls=_Commands,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "show_default": True,
        "auto_envvar_prefix": "DYNAMO",
    },
)
@click.version_option(
    __version__, prog_name="dynamo", message="%(prog)s %(version)s, for torch.compile (dynamo-cli)"
)
@click.pass_obj
def dynamo(invocation: object) -> None:
    """See what torch.compile makes of a PyTorch program.

    \b
    Examples:
      dynamo run train.py --epochs 1     run it as it is, and record what the compiler did
      dynamo explain                     what happened, what it cost, what broke
      dynamo COMMAND --help              the options of a command
    """
    if isinstance(invocation, Invocation) and not invocation.wants_only_the_answer():
        from .foreign_command import foreign_command, warning

        if (found := foreign_command(sys.argv[0])) is not None:
            click.echo(f"dynamo: {printable(warning(found))}", err=True)


def main() -> NoReturn:
    """The entry point. Ends the process with the exit codes that `dynamo_core.shared.errors` lists."""
    if sys.stderr is None:  # closed; print() would then take stdout, which is the program's or the report's
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # paths may be in any encoding, the terminal in another
            stream.reconfigure(errors="backslashreplace")
    show_paths_from(working_directory())
    os.environ.pop(
        RECORDING_VARIABLE, None
    )  # of `dynamo env`: the processes that we ask things are no part of it
    if "_DYNAMO_COMPLETE" in os.environ:
        from .completion import use_whole_words

        use_whole_words()
    invocation = Invocation(sys.argv[1:])
    try:
        code = dynamo.main(prog_name="dynamo", standalone_mode=False, obj=invocation)
        if sys.stdout is not None:
            sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "", err=True)
        sys.exit(EXIT_USAGE)
    except click.ClickException as error:
        invocation.fail(_what_is_wrong(error), EXIT_USAGE, _wrong_parameter(error))
    except DynamoError as error:
        _give_up_stdout()
        invocation.fail(str(error), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(exit_code())
    except BrokenPipeError:
        _give_up_stdout()
        sys.exit(EXIT_NOBODY_READS)
    except OSError as error:
        if error.filename is None and error.errno in _CANNOT_WRITE:  # help, say, to a disk that is full
            _give_up_stdout()
            invocation.fail(f"cannot write to stdout: {error.strerror}", CannotRecord.exit_code)
        _fail_internally(error, invocation)
    except Exception as error:
        _fail_internally(error, invocation)


def _give_up_stdout() -> None:
    """What is left in its buffer would fail again, and Python says so at exit."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _what_is_wrong(error: click.ClickException) -> str:
    """The message of click, or where `dynamo run` is asked for a report, which command prints one."""
    if (
        isinstance(error, click.NoSuchOption)
        and error.option_name in ("--format", "--json")
        and error.ctx is not None
        and error.ctx.info_name == "run"
    ):
        return (
            f"No such option '{error.option_name}'; dynamo explain --json runs a program and prints a report"
        )
    return error.format_message()


def _wrong_parameter(error: click.ClickException) -> str:
    """The option or argument that a bad command line has wrong; "" where that is not known."""
    if isinstance(error, click.NoSuchOption | click.BadOptionUsage):
        return error.option_name
    parameter = error.param if isinstance(error, click.BadParameter) else None
    return "" if parameter is None else parameter.opts[-1]


def _fail_internally(error: Exception, invocation: Invocation) -> NoReturn:
    if os.environ.get("DYNAMO_DEBUG"):
        raise error
    message = f"internal error: {type(error).__name__}: {error}; DYNAMO_DEBUG=1 shows where"
    invocation.fail(message, EXIT_INTERNAL)
