"""`dynamo ls`."""

import sys
import time
from pathlib import Path

import click

from .help_pages import CommandWithHelp
from .run_options import documented_option

_SHOWN = 20


@click.command("ls", cls=CommandWithHelp)
@click.argument("folder", type=click.Path(path_type=Path), default=Path(".dynamo"))
@documented_option("--all", "show_all", is_flag=True, help=f"List all of them, not the newest {_SHOWN}.")
@documented_option(
    "--prune", is_flag=True, help="Remove all but the newest recordings, after asking; never one that runs."
)
@documented_option(
    "--keep",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    metavar="N",
    help="How many --prune keeps.",
)
@documented_option("-y", "--yes", is_flag=True, help="With --prune: do not ask.")
def ls_command(folder: Path, show_all: bool, prune: bool, keep: int, yes: bool) -> None:
    """List the recordings in FOLDER (.dynamo unless named), the newest last.

    \b
    Examples:
      dynamo ls
      dynamo ls --prune --keep 3
      dynamo ls /tmp/recordings
    """
    from dynamo_core.opening.listed import listed
    from dynamo_core.recording import files
    from dynamo_core.shared.errors import NoRecording
    from dynamo_reporters.listing import listing_blocks
    from dynamo_reporters.page.console import show

    from .report_output import stdout

    if not folder.is_dir():
        raise NoRecording(f"no such folder: {folder}; `dynamo run SCRIPT` makes one")
    found = files.recordings(folder)
    if prune:
        _prune(found[: max(0, len(found) - keep)], yes)
        return
    shown = found if show_all else found[-_SHOWN:]
    with stdout() as out:
        show(out, listing_blocks(listed(shown), time.time_ns(), len(found) - len(shown)))


def _prune(old: list[Path], yes: bool) -> None:
    """Remove the recordings; one that is in use, or holds something else, stays and is named."""
    from dynamo_core.recording import files
    from dynamo_core.shared.errors import CannotRecord

    from .running import say

    if not old:
        say("dynamo: there is nothing to remove")
        return
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError(
                "recordings would be removed, and there is no terminal to ask on: add --yes"
            )
        for path in old:
            say(f"  {path}")
        click.confirm(f"Remove these {len(old)}?", default=False, abort=True, err=True)
    removed = 0
    for path in old:
        try:
            files.remove(path)
            removed += 1
        except CannotRecord as error:
            say(f"dynamo: {error}")
    say(f"dynamo: removed {removed} of {len(old)}")
