"""The IPython extension: `%%dynamo` reports on a cell, `%dynamo explain` on all that the kernel has compiled.

`%%dynamo` only marks the cell, which runs as it would without: its errors, outputs, magics and `await` are
IPython's. The report follows when the cell has run.
"""

import gc
import os
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import click

from dynamo_core.capture.in_process import InProcessEngine, own_recording
from dynamo_core.case import Case
from dynamo_core.launch.program import Program
from dynamo_core.model import Recording
from dynamo_core.recording.calls import CALL_SAMPLES
from dynamo_core.recording.files import DEFAULT_FOLDER, default_folder
from dynamo_core.recording.parts import StreamParts
from dynamo_core.shared.errors import CannotRecord, DynamoError, did_you_mean
from dynamo_core.shared.shown_paths import path_below, show_paths_from
from dynamo_reporters.page.blocks import Block, Paragraph
from dynamo_reporters.registry import OF_RECORDINGS

from .main import dynamo
from .program import ProgramCommand, program_of, set_program

_MAGIC = "dynamo"
_BEGIN = "dynamo_begin_cell"  # the magic that stands in place of the line `%%dynamo`
_SHOWS_ALL = "--all"
_NO_TORCH = "torch is not imported yet, so that there is nothing to report"
_ALL = "Calls of graphs that earlier cells compiled are not counted here; `%dynamo explain` counts all."


def load_ipython_extension(shell: Any) -> None:
    """Record this process from now on, and give IPython the magics. For `%load_ext dynamo`."""
    if _MAGIC not in shell.magics_manager.magics["line"]:  # as by its other name
        _Magics(shell).register()


def unload_ipython_extension(shell: Any) -> None:
    """Take the magics away again; the process goes on being recorded. For `%unload_ext dynamo`."""
    magics = shell.magics_manager.magics["line"].get(_MAGIC)
    if magics is not None:
        magics.__self__.unregister()


class _Magics:
    """The magics of one shell, and the recording of its process."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        with _errors_in_a_line():
            self._engine = InProcessEngine(own_recording() or _new_recording(), is_kept=True)
        self._began = self._engine.position()
        self._is_asked_for = False
        self._shows_all = False

    def register(self) -> None:
        """Have IPython know the magics."""
        manager = self._shell.magics_manager
        manager.register_function(self.report, "line", _MAGIC)
        manager.register_function(self.begin_cell, "line", _BEGIN)
        manager.register_function(_refuse_cell, "cell", _MAGIC)
        self._shell.input_transformers_cleanup.insert(0, _mark_cell)
        self._shell.events.register("post_execute", self.show_cell)

    def unregister(self) -> None:
        """Have IPython forget them."""
        magics = self._shell.magics_manager.magics
        for kind, name in (("line", _MAGIC), ("line", _BEGIN), ("cell", _MAGIC)):
            magics[kind].pop(name, None)
        self._shell.input_transformers_cleanup.remove(_mark_cell)
        self._shell.events.unregister("post_execute", self.show_cell)

    def report(self, line: str) -> None:
        """`%dynamo REPORT [OPTIONS]`: a report on what this kernel has compiled, `explain` if none is named.

        The reports and their options are those of the command: `%dynamo graphs --help`.
        """
        with _errors_in_a_line():
            name, *arguments = shlex.split(line) or ["explain"]
            if name not in OF_RECORDINGS:
                hint = did_you_mean(name, OF_RECORDINGS) or f"there are {', '.join(OF_RECORDINGS)}"
                raise click.UsageError(f"%dynamo: no such report {name!r}; {hint}")
            with _output_of(self._shell):
                _report(name, arguments)

    def begin_cell(self, line: str) -> None:
        """What IPython runs in place of `%%dynamo`, or of `%%dynamo --all`."""
        with _errors_in_a_line():
            if line.strip() not in ("", _SHOWS_ALL):
                raise click.UsageError(
                    f"%%dynamo takes no arguments but {_SHOWS_ALL}; for other reports: %dynamo {line.strip()}"
                )
        self._shows_all = bool(line.strip())
        self._began = self._engine.position()
        self._is_asked_for = True

    def show_cell(self) -> None:
        """Report on the cell that has just run, if it began with `%%dynamo`."""
        if not self._is_asked_for:
            return
        self._is_asked_for = False
        try:
            _show(self._shell, self._report_on_cell())
        except (click.ClickException, DynamoError, OSError) as error:  # IPython would print a traceback
            print(f"%%dynamo: {error}", file=sys.stderr)

    def _report_on_cell(self) -> list[Block]:
        """The report, or that nothing was compiled; UsageError or OSError where the records are not there."""
        from dynamo_reporters.explain.one_screen import one_screen
        from dynamo_reporters.explain.report import report

        show_paths_from(os.getcwd())
        explain = report(show_all=self._shows_all)
        case = Case(self._recording_of_cell(explain.contents | {CALL_SAMPLES}))
        if case.summary.frames == 0:  # it may have called what was compiled before
            return [Paragraph(f"Nothing was compiled in this cell. {_ALL}")]
        blocks = explain.page(case) if self._shows_all else one_screen(case, f"%%{_MAGIC} {_SHOWS_ALL}")
        return [*blocks, Paragraph(_ALL, "dim")]

    def _recording_of_cell(self, contents: frozenset[str]) -> Recording:
        """What was recorded since the cell began."""
        failure = self._engine.failure()
        if failure is not None:
            raise click.UsageError(f"the engine could not start: {failure}")
        now = self._engine.position()
        if now.offset is None:
            raise click.UsageError(_NO_TORCH)
        begin = self._began.offset if now.path == self._began.path else 0
        part = StreamParts(Path(now.path)).recording(begin or 0, now.offset, contents)
        return replace(part, path=Path(_path_of_own()))


def _new_recording() -> Path:
    """A folder of its own in `.dynamo`, which is made when torch is imported; CannotRecord says why not."""
    try:
        parent = default_folder()
    except OSError as error:
        why = f"cannot record to {DEFAULT_FOLDER.absolute()}: {error.strerror}"
        raise CannotRecord(f"{why}; change to another folder with %cd") from error
    return parent / f"notebook-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"


def _mark_cell(lines: list[str]) -> list[str]:
    """The cell with a call of ours in place of the line `%%dynamo`, so that its lines keep their numbers."""
    first, *others = lines or [""]
    name, _, arguments = first.strip().partition(" ")
    if name != f"%%{_MAGIC}" or not "".join(others).strip():
        return lines
    from IPython.core.inputtransformer2 import cell_magic

    return [f"get_ipython().run_line_magic({_BEGIN!r}, {arguments!r})\n", *cell_magic(others)]


def _refuse_cell(line: str, cell: str) -> None:
    """`%%dynamo`: run the cell as it is, and report on what torch.compile made of it."""
    with _errors_in_a_line():
        raise click.UsageError("%%dynamo must be the first line of a cell, and code must follow it")


def _report(name: str, arguments: list[str]) -> None:
    """Print a report; one whose arguments name no recording is on that of this process."""
    group = dynamo.make_context(f"%{_MAGIC}", [name])
    command = dynamo.get_command(group, name)
    assert isinstance(command, ProgramCommand)
    show_paths_from(os.getcwd())
    with group, _garbage_collected_again(), command.make_context(name, arguments, parent=group) as context:
        program = program_of(context)
        if program is not None and command.runs(program):
            raise click.UsageError(f"%dynamo runs no program; try !dynamo {shlex.join([name, *arguments])}")
        if program is None:
            set_program(context, Program((_path_of_own(),), is_python=True))
        command.invoke(context)


def _path_of_own() -> str:
    """The path of this process's recording; UsageError where there is none yet."""
    recording = own_recording()
    if recording is None or not recording.is_dir():
        raise click.UsageError(_NO_TORCH)
    return path_below(str(recording))


def _show(shell: Any, blocks: list[Block]) -> None:
    """Blocks as HTML in a notebook, as text in a terminal."""
    from dynamo_reporters.page.console import plain_text, show

    if not _is_notebook(shell):
        show(sys.stdout, blocks)
        return
    from IPython.display import publish_display_data

    from dynamo_reporters.html import fragment

    publish_display_data({"text/plain": plain_text(blocks), "text/html": fragment(blocks)})


def _is_notebook(shell: Any) -> bool:
    return getattr(shell, "kernel", None) is not None


@contextmanager
def _output_of(shell: Any) -> Iterator[None]:
    """In a notebook, write what is printed at the end: its stdout claims to be a terminal of 80 columns."""
    if not _is_notebook(shell):
        yield
        return
    printed = StringIO()
    try:
        with redirect_stdout(printed):
            yield
    finally:
        sys.stdout.write(printed.getvalue())


@contextmanager
def _errors_in_a_line() -> Iterator[None]:
    """What is wrong with what the user asked for, as IPython says it: in a line, without a traceback."""
    from IPython.core.error import UsageError

    try:
        yield
    except click.exceptions.Exit:  # after --help
        pass
    except click.ClickException as error:
        raise UsageError(error.format_message()) from None
    except DynamoError as error:
        raise UsageError(str(error)) from None


@contextmanager
def _garbage_collected_again() -> Iterator[None]:
    """Afterwards garbage is collected as before, which commands that read end (`read_with_progress`)."""
    is_collecting = gc.isenabled()
    try:
        yield
    finally:
        if is_collecting:
            gc.enable()
