"""The command group, and the one place where an error becomes a line and an exit code."""

import difflib
import importlib
import io
import os
import sys
from typing import NoReturn

import click

from dynamo_core import __version__
from dynamo_core.errors import EXIT_INTERNAL, EXIT_USAGE, DynamoError
from dynamo_core.untrusted import printable

_COMMANDS = {
    "run": "Run a program as it is, and record what torch.compile makes of it.",
    "bench": "Run a program under several backends, and compare time, speed-up and agreement.",
    "explain": "Say what happened, what it cost and what to fix first.",
    "graphs": "Show the FX graphs: as tables, code or dot, at every stage.",
    "bytecode": "Show each frame's bytecode before and after Dynamo.",
    "guards": "Show the guards of each cache entry.",
    "breaks": "Show each graph break, what it costs and what to do about it.",
    "recompiles": "Show which guard failed, on which values, and what to do.",
    "profile": "Show where the time goes, and export it to viewers.",
    "ops": "Count the operations of each graph, and how often they ran.",
    "autotune": "Find the best backend for each graph, and keep it.",
    "backends": "List the backends, where they come from and whether they can run here.",
    "ls": "List recordings.",
}


class _Commands(click.Group):
    """Imports a command's module when the command is used, so that `--help` is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"dynamo_cli.{cmd_name}_command")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], _COMMANDS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"try `dynamo run {args[0]}`"
            raise click.UsageError(f"no such command {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(__version__, prog_name="dynamo", message="%(prog)s %(version)s")
def dynamo() -> None:
    """See what torch.compile makes of a PyTorch program.

    \b
    Examples:
      dynamo run train.py --epochs 1     run it as it is, and record what the compiler did
      dynamo explain                     what happened, what it cost, what broke
      dynamo COMMAND --help              the options of a command
    """


def main() -> NoReturn:
    """The entry point. Ends the process with the exit codes that `dynamo_core.errors` lists."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # paths may be in any encoding, the terminal in another
            stream.reconfigure(errors="backslashreplace")
    try:
        code = dynamo.main(prog_name="dynamo", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "", err=True)
        sys.exit(EXIT_USAGE)
    except click.ClickException as error:
        _fail(error.format_message(), EXIT_USAGE)
    except DynamoError as error:
        _fail(str(error), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has gone, as with `dynamo explain | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(141)
    except Exception as error:
        if os.environ.get("DYNAMO_DEBUG"):
            raise
        _fail(f"internal error: {type(error).__name__}: {error} (DYNAMO_DEBUG=1 shows where)", EXIT_INTERNAL)


def _fail(message: str, code: int) -> NoReturn:
    try:
        print(f"dynamo: {printable(' '.join(message.split()))}", file=sys.stderr)
    except (OSError, ValueError):
        pass
    sys.exit(code)
