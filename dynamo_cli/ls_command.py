"""`dynamo ls`."""

import sys
from pathlib import Path

import click


@click.command("ls")
@click.argument("folder", type=click.Path(path_type=Path), default=Path(".dynamo"))
def ls_command(folder: Path) -> None:
    """List the recordings in FOLDER (.dynamo unless named), the newest last.

    \b
    Example:
      dynamo ls
    """
    from dynamo_core.errors import NoRecording
    from dynamo_core.recording import files
    from dynamo_reporters.listing import listing_blocks
    from dynamo_reporters.page.console import show

    if not folder.is_dir():
        raise NoRecording(f"no such folder: {folder}; `dynamo run SCRIPT` makes one")
    show(sys.stdout, listing_blocks(files.recordings(folder)))
