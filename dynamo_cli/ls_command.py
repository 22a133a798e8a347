"""`dynamo ls`."""

from pathlib import Path

import click

from .help_pages import CommandWithHelp


@click.command("ls", cls=CommandWithHelp)
@click.argument("folder", type=click.Path(path_type=Path), default=Path(".dynamo"))
def ls_command(folder: Path) -> None:
    """List the recordings in FOLDER (.dynamo unless named), the newest last.

    \b
    Examples:
      dynamo ls
      dynamo ls /tmp/recordings
    """
    from dynamo_core.recording import files
    from dynamo_core.shared.errors import NoRecording
    from dynamo_reporters.listing import listing_blocks
    from dynamo_reporters.page.console import show

    from .report_output import stdout

    if not folder.is_dir():
        raise NoRecording(f"no such folder: {folder}; `dynamo run SCRIPT` makes one")
    with stdout() as out:
        show(out, listing_blocks(files.recordings(folder)))
