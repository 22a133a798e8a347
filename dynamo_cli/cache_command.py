"""`dynamo cache`."""

import os
import sys
import time
from pathlib import Path

import click

from dynamo_core.analysis.selection import Selection, parts_to_select, select

from .help_pages import CommandWithHelp
from .options import all_option, compile_id_option, documented_option, frame_option, rank_option
from .report_command import RecordingPath
from .report_output import Output, write_report, writes_report


@click.command("cache", cls=CommandWithHelp)
@click.argument("paths", metavar="[EARLIER] [TARGET]", nargs=-1, type=RecordingPath())
@frame_option
@compile_id_option
@rank_option
@all_option("Every look-up, not the costliest twelve.")
@documented_option(
    "--store", is_flag=True, help="What lies in the cache folders named, or else in those of this machine."
)
@documented_option(
    "--unused-for",
    type=click.FloatRange(min=0),
    metavar="DAYS",
    default=30.0,
    help="With --store, what was not used for so long could be pruned.",
)
@documented_option("--prune", is_flag=True, help="With --store, delete what was not used for so long.")
@writes_report()
def cache_command(
    paths: tuple[Path, ...],
    frame: str | None,
    compile_id: str | None,
    rank: int | None,
    show_all: bool,
    store: bool,
    unused_for: float,
    prune: bool,
    out: Output,
) -> None:
    """Say what torch's compile caches were worth in a run, and why a warm start was cold.

    TARGET is a recording, or a TORCH_TRACE file or folder; without one, the newest in .dynamo. Its cache keys
    are compared with those of EARLIER, or else of the runs before it in the same folder.

    \b
    Examples:
      dynamo cache                               the newest run
      dynamo cache .dynamo/monday .dynamo/today  today was cold although monday compiled the same
      dynamo cache --store                       what lies in this machine's caches
    """
    if store:
        _store(paths, unused_for, prune, out)
        return
    if prune:
        raise click.UsageError("--prune goes with --store")
    _explain(paths, Selection(frame, compile_id, rank=rank), show_all, out)


def _explain(paths: tuple[Path, ...], wanted: Selection, show_all: bool, out: Output) -> None:
    from dynamo_core.caches.explained import explain_caches
    from dynamo_core.compare.earlier import KEYS, KEYS_AND_PHASES, earlier_runs
    from dynamo_core.recording import files
    from dynamo_core.recording.read import read
    from dynamo_reporters.cache import report

    if len(paths) > 2:
        raise click.UsageError("give at most two recordings: the earlier one, and the one to explain")
    if len({each.resolve() for each in paths}) < len(paths):
        raise click.UsageError(f"{paths[0]} is given twice: name an earlier run, and the run")
    path = paths[-1] if paths else files.newest()
    recording = select(read(path, KEYS_AND_PHASES), wanted)
    earlier = [read(each, KEYS) for each in paths[:-1]] or earlier_runs(recording, path)
    found = explain_caches(recording, earlier)
    write_report(report(recording, show_all), found, out, parts_to_select(recording, wanted))


def _store(paths: tuple[Path, ...], days: float, prune: bool, out: Output) -> None:
    from dynamo_core.caches import store as pruning
    from dynamo_core.caches.store import default_folders, look_through, may_be_folder, store_of, vllm_folders
    from dynamo_core.shared.errors import NoRecording
    from dynamo_reporters.cache import Looked, store_report

    missing = [path for path in paths if not may_be_folder(path)]
    if missing:
        raise NoRecording(f"no such folder: {missing[0]}")
    now, looked = time.time(), []
    for folder in paths or default_folders(os.environ):
        contents = look_through(folder)
        stored = store_of(contents, days, now)
        vllm = tuple(vllm_folders(folder)) if contents.kind == "vLLM" else ()
        looked.append(Looked(stored, vllm, pruning.prune(contents, days, now) if prune else None))
    write_report(store_report(days), looked, out)


_SHOWN = 20


@click.command("ls", cls=CommandWithHelp)
@click.argument("folder", type=click.Path(path_type=Path), default=Path(".dynamo"))
@all_option(f"List all of them, not the newest {_SHOWN}.")
@documented_option(
    "--prune", is_flag=True, help="Remove all but the newest recordings, after asking; never one that runs."
)
@documented_option(
    "--keep",
    type=click.IntRange(min=0),
    default=5,
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
    from dynamo_core.opening import listed
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
