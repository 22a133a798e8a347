"""Run a program with what the user sees of it: notes before, DYNAMO_LOGS during, a summary after."""

import functools
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.cells import cell_len, set_cell_size

from dynamo_core.analysis.verdict import compiling_words
from dynamo_core.launch.process import Ending
from dynamo_core.model import Process
from dynamo_core.recording.read import Follower
from dynamo_core.shared.errors import Disagreement, DynamoError, GraphBreaksFound, NotMeasured
from dynamo_core.shared.settings import VERIFY_AUDITS
from dynamo_core.shared.text import printable

if TYPE_CHECKING:
    from dynamo_core.case import Case
    from dynamo_core.launch.run import Outcome, Request


# While something is being compiled, the terminal's last line says what, for how long, and how many are done.
#
# The launcher draws it from what the recording holds so far; the program's process knows nothing of it. The
# last row does not scroll while the line is there, as with apt's progress bar: what the program prints at any
# moment goes where it would, and never into our line.


_STDERR = 2
_SHOWN_AFTER_NS = 1_000_000_000  # of one compile
_FEWEST_ROWS = 4

# Gets the recording when it is there; what it returns is called while the program runs.
Follow = Callable[[Path], Callable[[], None]]


@contextmanager
def progress_line(*, quiet: bool) -> Iterator[Follow | None]:
    """What follows a recording and shows its compiles; None where nobody would look. Erased at the end."""
    if quiet or not _is_watched():
        yield None
        return
    row = _LastRow()

    def follow(recording: Path) -> Callable[[], None]:
        follower = Follower(recording)

        def show_compiles() -> None:
            follower.advance()
            row.show(progress_text(follower.processes, time.time_ns()))

        return show_compiles

    try:
        yield follow
    finally:
        row.show(None)


def progress_text(processes: Iterable[Process], now_ns: int) -> str | None:
    """The line, from the second second of a compile on."""
    processes = list(processes)
    running = [compiling for process in processes for compiling in process.compiling]
    first = min(running, key=lambda compiling: compiling.began_ns, default=None)
    if first is None or now_ns - first.began_ns < _SHOWN_AFTER_NS:
        return None
    others = f", {len(running) - 1} more at once" if len(running) > 1 else ""
    done = sum(frame.outcome == "compiled" for process in processes for frame in process.frames)
    seconds = (now_ns - first.began_ns) // 1_000_000_000
    return f"dynamo: compiling for {seconds} s{others}, {done} done: {compiling_words(first)}"


def _is_watched() -> bool:
    """Whether stderr is a terminal that obeys, and no log of a CI."""
    return os.isatty(_STDERR) and not os.environ.get("CI") and os.environ.get("TERM", "dumb") != "dumb"


class _LastRow:
    """The terminal's last row, ours while there is something to show."""

    def __init__(self) -> None:
        self._rows: int | None = None  # of the terminal, while its last one is ours
        self._shown: str | None = None

    def show(self, text: str | None) -> None:
        """Draw `text` there, or give the row back. The cursor stays where the program has left it."""
        try:
            size = os.get_terminal_size(_STDERR)
            if text is not None and (size.lines < _FEWEST_ROWS or not self._is_in_foreground()):
                text = None
            cells = None if text is None else set_cell_size(text, min(cell_len(text), size.columns - 1))
            if cells == self._shown and (cells is None or size.lines == self._rows):
                return
            self._shown = cells
            os.write(_STDERR, self._drawn(cells, size.lines).encode("utf-8", "replace"))
        except OSError:  # it is gone
            self._rows = None

    def _drawn(self, text: str | None, rows: int) -> str:
        """All in one write, so that nothing of the program's comes between."""
        drawn = ""
        if self._rows is not None and (text is None or self._rows != rows):
            drawn += f"\x1b7\x1b[{self._rows};1H\x1b[2K\x1b[r\x1b8"
            self._rows = None
        if text is not None:
            if self._rows is None:
                # Down and up again: where the cursor is on the last row, the screen scrolls by one.
                drawn += f"\x1bD\x1b[A\x1b7\x1b[1;{rows - 1}r\x1b8"
                self._rows = rows
            drawn += f"\x1b7\x1b[{rows};1H\x1b[2K{text}\x1b8"
        return drawn

    @staticmethod
    def _is_in_foreground() -> bool:
        return os.tcgetpgrp(_STDERR) == os.getpgrp()


# What an audit has to show, its verdict in a sentence, and the exit code of the run.
Audited = tuple[Iterable[Any], str, int | None]


def say(line: str) -> None:
    """One line of ours on stderr. A closed stderr is not our problem."""
    try:
        print(printable(" ".join(line.split("\n"))), file=sys.stderr, flush=True)
    except (OSError, ValueError):
        pass


def run_program(request: "Request", *, quiet: bool) -> "Outcome":
    """Record `request`; with `quiet`, print nothing at all."""
    from dynamo_core.launch.run import record

    live_output = None if quiet else _live_output()
    with progress_line(quiet=quiet) as progress:
        return record(
            request,
            announce=(lambda line: None) if quiet else (lambda line: say(f"dynamo: {line}")),
            follow=_all_of(live_output, progress),
        )


def _all_of(*follows: Follow | None) -> Follow | None:
    wanted = [follow for follow in follows if follow is not None]

    def follow_all(recording: Path) -> Callable[[], None]:
        watches = [follow(recording) for follow in wanted]

        def watch_all() -> None:
            for watch in watches:
                watch()

        return watch_all

    return follow_all if wanted else None


def _live_output() -> Follow | None:
    """What follows the recording and prints, if DYNAMO_LOGS asks for anything."""
    wanted = os.environ.get("DYNAMO_LOGS", "")
    if not wanted.strip():
        return None
    from dynamo_reporters.topics import UnknownTopic, help_text, parse_topics

    if wanted.strip() == "help":
        click.echo(help_text())
        raise click.exceptions.Exit(0)
    try:
        details = parse_topics(wanted)
    except UnknownTopic as error:
        raise click.UsageError(str(error)) from error

    def follow(recording: Path) -> Callable[[], None]:
        from dynamo_core.recording.read import Follower
        from dynamo_reporters.page.console import show
        from dynamo_reporters.topics import CONTENTS, lines_and_blocks

        follower = Follower(recording, CONTENTS)

        def print_news() -> None:
            for _, item in follower.new_items():
                lines, blocks = lines_and_blocks(item, details)
                for line in lines:  # not wrapped, so that there is one for each event
                    say(f"{time.strftime('%H:%M:%S')} {line}")
                show(sys.stderr, blocks)

        return print_news

    return follow


def summarize_run(outcome: "Outcome", *, is_default_place: bool) -> None:
    """Print the end-of-run summary."""
    from dynamo_core.case import Case
    from dynamo_core.findings import CONTENTS
    from dynamo_core.recording import files
    from dynamo_core.recording.read import read
    from dynamo_reporters.explain.report import render_end_of_run

    try:
        case = Case(read(outcome.recording, CONTENTS))
    except DynamoError as error:
        say(f"dynamo: {error}")
        return
    is_newest = is_default_place and files.is_surely_newest(outcome.recording)
    for line in render_end_of_run(case, is_newest):
        say(f"dynamo: {line}")


def audited(outcome: "Outcome", fullgraph: str | None, verify: str | None, *, quiet: bool) -> Ending:
    """How to end, once the verdicts of the audits that were asked for are printed."""
    audits = [functools.partial(_fullgraph_audited, fullgraph)] if fullgraph is not None else []
    audits += [functools.partial(verify_audited)] if verify in VERIFY_AUDITS else []
    ending = outcome.ending
    if not audits:
        return ending
    from dynamo_core.case import Case
    from dynamo_core.findings import CONTENTS
    from dynamo_core.recording.read import read
    from dynamo_reporters.page.console import show

    case = Case(read(outcome.recording, CONTENTS))
    for audit in audits:
        blocks, sentence, code = audit(case, ending.exit_code)
        if not quiet:
            with suppress(OSError, ValueError):  # a full or closed stderr is not the program's fault
                show(sys.stderr, blocks)
            ends = f"; exit code {code}" if code != ending.exit_code else ""
            say(f"dynamo: {sentence}{ends}")
        ending = replace(ending, exit_code=code)
    return ending


def _fullgraph_audited(kind: str, case: "Case", exit_code: int | None) -> Audited:
    from dynamo_core.analysis.verdict import audit, audited_exit_code
    from dynamo_reporters.breaks import audit_sentence, problem_blocks

    found = audit(case.recording)
    code = audited_exit_code(found, kind, exit_code, GraphBreaksFound.exit_code)
    return problem_blocks(case.figures), f"--fullgraph: {audit_sentence(found)}", code


def verify_audited(case: "Case", exit_code: int | None) -> Audited:
    """The verdict of --verify=error on a run that ended with this code: blocks, a sentence and its exit code.

    What was not compared is not right: a run in which nothing was has an exit code of its own.

    But compiled code that draws its own random numbers cannot be compared, whatever one does.
    """
    from dynamo_core.analysis.verification import audit_sentence, verification

    found = verification(case.recording)
    if exit_code == 0 and (found is None or found.is_blind):
        exit_code = NotMeasured.exit_code
    elif exit_code == 0 and found is not None and found.has_wrong:
        exit_code = Disagreement.exit_code
    return [], f"--verify: {audit_sentence(found)}", exit_code


# What runs now, of work that takes minutes: a bar on a terminal, else a line for each run.


class RunProgress:
    """`unit` is what is counted."""

    def __init__(self, unit: str = "run") -> None:
        self._unit = unit
        self._bar: Any = None

    def __enter__(self) -> "RunProgress":
        if sys.stderr is not None and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("")
            self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    @property
    def is_drawn(self) -> bool:
        """Whether there is a bar."""
        return self._bar is not None

    def announce(self, what: str, done: int, in_all: int, remaining: str | None = None) -> None:
        """Say what is about to run, and how long it takes yet, where that is known."""
        if self._bar is None:
            more = "" if remaining is None else f"; {remaining}"
            say(f"dynamo: {what} ({self._unit} {done + 1} of {in_all}{more})")
        else:
            more = "" if remaining is None else f" ({remaining})"
            self._bar.update(self._task, description=f"{what}{more}", completed=done, total=in_all)

    def say(self, line: str) -> None:
        """A line that stays, above the bar."""
        if self._bar is None:
            say(line)
        else:
            self._bar.console.print(line, markup=False, highlight=False)
