"""What every report command shares: its target, the selectors, the format, and where the report goes."""

import gc
import os
import re
import shlex
import sys
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dynamo_core.analysis.selection import Selection, parts_to_select, select
from dynamo_core.analysis.words import number
from dynamo_core.case import Case
from dynamo_core.findings.since import Since
from dynamo_core.launch.process import Ending, end_like
from dynamo_core.launch.program import NOTEBOOK, Program
from dynamo_core.model import Recording
from dynamo_core.recording import files
from dynamo_core.recording.remote import fetched, is_url
from dynamo_core.shared.errors import NoRecording, NotARecording
from dynamo_core.shared.quick_dataclass import dataclass
from dynamo_core.shared.similar_paths import did_you_mean_path
from dynamo_core.shared.text import printable
from dynamo_reporters.report import Report

from .options import (
    RUN_OPTIONS,
    compile_id_option,
    completed_by,
    documented_option,
    frame_option,
    rank_option,
    request_from,
    run_options,
)
from .program import BUDGET, ProgramCommand, program_of, set_program
from .report_output import FORMATS, Output, write_report, writes_report

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# A recording that is named on a command line: a path, or a URL, of which there is a copy to read.


_BEFORE_PROGRESS = 1.0  # seconds


class RecordingPath(click.Path):
    """The path of a recording, or of the copy of one at a URL."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Fetch what is at a URL, unless a shell only asks what may follow."""
        is_asked = ctx is not None and ctx.resilient_parsing
        if isinstance(value, str) and is_url(value) and not is_asked:
            return copy_of(value)
        return super().convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list["CompletionItem"]:
        """Recordings, and files."""
        from .completion import recordings_or_files

        return recordings_or_files(incomplete)


def copy_of(url: str) -> Path:
    """A local copy of the recording at a URL; a line on stderr says that it is a copy."""
    from .running import say

    with ProgressBar(f"fetching {url}") as progress:
        copy = fetched(url, progress.advance)
    say(f"dynamo: read from {url} ({copy.name}); for other reports name the URL again")
    return copy


class ProgressBar:
    """A bar on stderr, once the work has taken a second; only where stderr is a terminal."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._begun = time.monotonic()
        self._bar: Any = None

    def __enter__(self) -> "ProgressBar":
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, done: int, total: int) -> None:
        """Show that `done` bytes of `total` are read."""
        if self._bar is None:
            if time.monotonic() - self._begun < _BEFORE_PROGRESS or not sys.stderr.isatty():
                return
            from rich.console import Console
            from rich.markup import escape
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(escape(printable(self._title)), total=total)
            self._bar.start()
        self._bar.update(self._task, completed=done, total=total)


_NEVER_PROGRAMS = (".log", ".gz", ".json", ".bin", ".txt", ".md")


# What only `--help-all` shows: the options that pick out a part, and those of a run.
_FURTHER = RUN_OPTIONS | {BUDGET, "frame", "compile_id", "graph", "file", "rank", "restart"}


@dataclass(frozen=True)
class Export:
    """A further format of a report, which another program opens: `make` gives a file of it.

    A file whose name has one of the `endings` is of this format; the longest ending decides.
    """

    make: Callable[[Recording], str]
    viewer: str
    endings: tuple[str, ...]


class ReportCommand(ProgramCommand):
    """A command whose target may be a recording, which has no arguments: options may follow it."""

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The usage line, with the target that click does not know of."""
        return ["[OPTIONS]", "[TARGET]"]

    def runs(self, program: Program) -> bool:
        """Whether this is a program to run, and not a recording to read."""
        return is_to_be_run(program)

    def targets(self, incomplete: str) -> list["CompletionItem"]:
        """What may be the target: a recording, or a file."""
        from .completion import recordings_or_files

        return recordings_or_files(incomplete)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse again, with the options that follow the name of a recording put before it."""
        rest = super().parse_args(ctx, args)
        program = program_of(ctx)
        if program is None or is_to_be_run(program):
            return rest
        if ctx.resilient_parsing:
            from .completion import TARGET_KEY

            ctx.meta[TARGET_KEY] = Path(program.arguments[0])
        if len(program.arguments) < 2 or ctx.resilient_parsing:
            return rest
        target, *behind = program.arguments
        before = args[: len(args) - len(program.arguments)]
        try:
            fresh = self.make_context(ctx.info_name, [*before, *behind], parent=ctx.parent)
            if program_of(fresh) is not None:
                raise click.UsageError(f"{target} is a recording: it takes no arguments")
        except click.UsageError:
            if _may_be_program(Path(target)):  # whose arguments these are
                raise NotARecording(f"{target} is no recording{_how_to_run(target)}") from None
            raise
        ctx.params = fresh.params
        set_program(ctx, Program((target,), is_python=True))
        return rest


def report_command(
    name: str, exports: Mapping[str, Export] | None = None, text_endings: Collection[str] = ()
) -> Callable[[Callable[..., Report[Case]]], click.Command]:
    """Make a command of a function that takes the report's own options and gives the report.

    A file whose name has one of the `text_endings` gets the text.
    """
    exports = exports or {}
    endings = {ending: form for form, export in exports.items() for ending in export.endings}
    shared = [
        frame_option,
        compile_id_option,
        documented_option(
            "--graph", type=int, metavar="N", shell_complete=completed_by("graphs"), help="Only graph N."
        ),
        documented_option(
            "--file",
            metavar="PATTERN",
            shell_complete=completed_by("source_files"),
            help="Only frames of files that match.",
        ),
        rank_option,
        documented_option(
            "--restart",
            type=int,
            metavar="N",
            help="Only the ranks of a job that had been started again N times; 0 is its first attempt.",
        ),
        run_options("--recording"),
    ]

    def make(build: Callable[..., Report[Case]]) -> click.Command:
        build_parameters = {parameter.name for parameter in getattr(build, "__click_params__", [])}

        @click.pass_context
        def callback(
            ctx: click.Context,
            /,
            out: Output,
            **options: Any,
        ) -> None:
            own = {name: options.pop(name) for name in build_parameters if name is not None}
            report = build(**own)
            selection = Selection(**{each.name: options.pop(each.name) for each in fields(Selection)})
            path, ending = target_recording(ctx, options)
            contents = report.contents | (page_contents() if out.form == "html" else frozenset())
            is_one_for_alike = report.one_for_alike and out.form != "html" and selection == Selection()
            recording = select(read_with_progress(path, contents, one_for_alike=is_one_for_alike), selection)
            was_run = ending is not None and report.name == "explain"
            case = Case(recording, since_the_run_before(recording) if was_run else None)
            if out.form in exports:
                out.put(exports[out.form].make(recording))
            elif out.form == "html":
                out.put(page_of(case, report))
            else:
                parts = parts_to_select(recording, selection) if out.form == "json" else ()
                write_report(report, case, out, parts)
            if ending is not None:
                end_like(ending)

        forms = writes_report(
            (*FORMATS, *exports),
            _meaning_of_formats(exports),
            endings=endings | dict.fromkeys(text_endings, "text"),
            has_budget="budget" not in build_parameters,  # autotune has one of its own, in seconds
        )
        for option in reversed([forms, *shared]):
            callback = option(callback)
        # click lists them from the last: the report's own options stand first in its help.
        callback.__click_params__ += getattr(build, "__click_params__", [])  # type: ignore[attr-defined]
        command = click.command(name, cls=ReportCommand, further=_FURTHER)(callback)
        command.help = build.__doc__
        return command

    return make


def since_the_run_before(recording: Recording) -> Since | None:
    """What became of the findings of the latest run of the same command that ended well; None without one."""
    from dynamo_core.compare.earlier import run_before
    from dynamo_core.compare.findings import since
    from dynamo_core.findings import CONTENTS

    before = run_before(recording, CONTENTS)
    if before is None or recording.ended_well:
        return None if before is None else since(before, recording)
    return Since(before.address, [], [], 0, is_compared=False)


def target_recording(
    ctx: click.Context, options: dict[str, Any], *, is_audited: bool = True
) -> tuple[Path, Ending | None]:
    """The recording to report on, after running the program if the target is one; how to end then.

    If it `is_audited`, the verdicts of --verify=error and --fullgraph are printed, and decide how to end.
    """
    program = program_of(ctx)
    if program is None or not is_to_be_run(program):
        return named_recording(program), None
    from .running import audited, run_program

    outcome = run_program(request_from(program, **options, stdout_to_stderr=True), quiet=False)
    if not is_audited:
        return outcome.recording, outcome.ending
    return outcome.recording, audited(outcome, options["fullgraph"], options["verify"], quiet=False)


def named_recording(target: Program | None) -> Path:
    """The recording that a target names which is no program; the newest where none is named."""
    if target is None:
        return files.newest()
    first = target.arguments[0]
    if first == "-":
        raise NotARecording(f"stdin is no recording{_how_to_run(first)}")
    if is_url(first):
        return copy_of(first)
    if not os.path.lexists(first):
        hint = _what_was_meant(first)
        raise NoRecording(f"there is no recording and no program at {first}" + (f"; {hint}" if hint else ""))
    return _newest_in(Path(first))


def _what_was_meant(target: str) -> str | None:
    """What to type instead of a target that does not exist; None where nothing is near it."""
    if target.isdecimal():
        return f"one graph is picked out by `--graph {target}`"
    if re.fullmatch(r"\[?\d+/\d+\]?", target):
        return f"one compile is picked out by `--compile-id {target.strip('[]')}`"
    if target.isidentifier() and find_spec(target) is not None:
        return f"a module is run with `-m {target}`"
    return did_you_mean_path(target, files.DEFAULT_FOLDER)


def _newest_in(path: Path) -> Path:
    """The newest of the recordings in a folder that is none itself."""
    from .running import say

    jobs = [] if files.is_recording(path) else files.recordings(path)
    if not jobs:
        return path
    say(f"dynamo: {path} has {number(len(jobs), 'recording')}; this is the newest, {jobs[-1]}")
    return jobs[-1]


def is_to_be_run(program: Program) -> bool:
    """Whether a target is a program by the way it is named: what a file holds must not have it run."""
    first = program.arguments[0]
    if not program.is_python or first.startswith(("-m", "-c")):
        return True
    return first.endswith((".py", NOTEBOOK)) and os.path.isfile(first) and not files.is_recording(Path(first))


def page_contents() -> frozenset[str]:
    """What the reader must load for the page; what makes pages is imported where one is asked for."""
    from dynamo_reporters.html import CONTENTS

    return CONTENTS


def page_of(case: Case, report: Report[Case] | None = None) -> bytes:
    """The page of a recording, which opens at the section of the report."""
    from dynamo_reporters.html import page as whole_page

    return whole_page(case, report)


def read_with_progress(path: Path, contents: frozenset[str], *, one_for_alike: bool = False) -> Recording:
    """The recording, with a bar on a terminal where reading it takes long.

    From here on no garbage is collected: what is read is needed until the process ends, and a page made of it
    is a million small values more. To look through them again and again is a fifth of the time.
    """
    gc.disable()
    from dynamo_core.recording.read import read

    try:
        with ProgressBar(f"reading {path}") as progress:
            if one_for_alike:
                from dynamo_core.opening import read_ranks

                return read_ranks(path, contents, progress.advance)
            return read(path, contents, progress.advance)
    except NotARecording as error:
        hint = _how_to_run(str(path)) if _may_be_program(path) else ""
        raise NotARecording(f"{error}{hint}") from error


def _may_be_program(path: Path) -> bool:
    """Whether Python could run what is no recording."""
    if files.is_recording(path) and path.suffix != ".zip":  # Python runs zip files, too
        return False
    if os.path.isfile(path):
        return path.suffix not in _NEVER_PROGRAMS
    return str(path) == "-" or os.path.lexists(path / "__main__.py")


def _how_to_run(target: str) -> str:
    """What to type where a target was meant as a program."""
    return f"; if it is a program, run it first: dynamo run {shlex.quote(target)}, then dynamo explain"


def _meaning_of_formats(exports: Mapping[str, Export]) -> str:
    text = "A page to read, the same as markdown, a versioned JSON document, or one HTML file of everything"
    for form, export in exports.items():
        text += f"; {form}, {export.viewer} ({', '.join(export.endings)})"
    return text
