"""`dynamo cache`."""

import os
import time
from pathlib import Path

import click

from dynamo_core.analysis.selection import Selection, select

from .help_pages import CommandWithHelp
from .recording_argument import RecordingPath
from .report_output import format_of, format_option, report_file_option, write_report
from .run_options import documented_option


@click.command("cache", cls=CommandWithHelp)
@click.argument("paths", metavar="[EARLIER] [TARGET]", nargs=-1, type=RecordingPath())
@documented_option("--frame", metavar="NAME", help="Only the look-ups of frames of this name; * and ? match.")
@documented_option("--compile-id", metavar="0/1", help="Only this compile, or every compile of frame 0.")
@documented_option("--rank", type=int, metavar="N", help="Only rank N of a distributed run.")
@documented_option("--all", "show_all", is_flag=True, help="Every look-up, not the costliest twelve.")
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
@format_option
@report_file_option
def cache_command(
    paths: tuple[Path, ...],
    frame: str | None,
    compile_id: str | None,
    rank: int | None,
    show_all: bool,
    store: bool,
    unused_for: float,
    prune: bool,
    form: str | None,
    report_file: Path | None,
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
    form = form or format_of(report_file, {})
    if store:
        _store(paths, unused_for, prune, form, report_file)
        return
    if prune:
        raise click.UsageError("--prune goes with --store")
    _explain(paths, Selection(frame, compile_id, rank=rank), show_all, form, report_file)


def _explain(
    paths: tuple[Path, ...], wanted: Selection, show_all: bool, form: str, report_file: Path | None
) -> None:
    from dynamo_core.analysis.caches.explained import explain_caches
    from dynamo_core.compare.earlier_runs import KEYS, KEYS_AND_PHASES, earlier_runs
    from dynamo_core.recording import files
    from dynamo_core.recording.read import read
    from dynamo_reporters.cache.document import cache_document
    from dynamo_reporters.cache.report import cache_blocks

    if len(paths) > 2:
        raise click.UsageError("give at most two recordings: the earlier one, and the one to explain")
    if len({each.resolve() for each in paths}) < len(paths):
        raise click.UsageError(f"{paths[0]} is given twice: name an earlier run, and the run")
    path = paths[-1] if paths else files.newest()
    recording = select(read(path, KEYS_AND_PHASES), wanted)
    earlier = [read(each, KEYS) for each in paths[:-1]] or earlier_runs(recording, path)
    report = explain_caches(recording, earlier)
    write_report(
        lambda: cache_blocks(report, recording, show_all=show_all),
        lambda: cache_document(report, recording),
        form,
        report_file,
    )


def _store(paths: tuple[Path, ...], days: float, prune: bool, form: str, report_file: Path | None) -> None:
    from dynamo_core.cache_store import prune as pruning
    from dynamo_core.cache_store.layout import default_folders, may_be_folder
    from dynamo_core.cache_store.scan import look_through, store_of
    from dynamo_core.cache_store.vllm import vllm_folders
    from dynamo_core.shared.errors import NoRecording
    from dynamo_reporters.cache.store import Looked, store_blocks, store_document

    missing = [path for path in paths if not may_be_folder(path)]
    if missing:
        raise NoRecording(f"no such folder: {missing[0]}")
    now, looked = time.time(), []
    for folder in paths or default_folders(os.environ):
        contents = look_through(folder)
        stored = store_of(contents, days, now)
        vllm = tuple(vllm_folders(folder)) if contents.kind == "vLLM" else ()
        looked.append(Looked(stored, vllm, pruning.prune(contents, days, now) if prune else None))
    write_report(lambda: store_blocks(looked, days), lambda: store_document(looked, days), form, report_file)
