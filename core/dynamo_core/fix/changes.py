"""A remedy's change, applied to one run of the program or written permanently into its source files."""

import os
import tokenize
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from ..findings.actions import LIST_VARIABLES
from ..launch.program import Program
from ..launch.run import Request
from ..model import Place
from ..remedies.rules import Assignment, Change
from ..shared.quick_dataclass import dataclass
from .edits import CHANGES_CALLERS, EDITS, Edit, edit_of
from .edits.settings import with_arguments, with_environment, with_settings
from .trial import Patch, can_be_edited, script_of

_DYNAMIC = {"--dynamic": True, "--no-dynamic": False}
_Change = Callable[[str], str | None]  # the changed text of a file; None where the change is not possible


@dataclass(frozen=True)
class LineEdit:
    """An edit at a line of a file. One that `changes_callers` needs to know every caller."""

    file: str
    line: int
    edit: Edit
    changes_callers: bool = False


@dataclass(frozen=True)
class SourceChange:
    """A change as edits of the program's source: at lines, and settings at the top of the script."""

    lines: tuple[LineEdit, ...] = ()
    settings: tuple[Assignment, ...] = ()
    environment: tuple[Assignment, ...] = ()


def with_change(request: Request, change: Change) -> Request:
    """The request with the change's settings, arguments and options; edits are applied by `overlay`."""
    settings = request.settings
    settings = settings._replace(
        config=(*settings.config, *map(str, change.settings)),
        override=(*settings.override, *map(str, change.arguments)),
    )
    for option in change.options:
        settings = settings._replace(dynamic=_DYNAMIC[option])
    return replace(request, settings=settings)


def with_eagers_random_numbers(request: Request) -> Request:
    """The request, with random numbers of compiled code drawn as eager draws them.

    Inductor draws its own, others for other graphs: each cure would change what the program prints.
    Source: torch/_inductor/config.py (fallback_random), 2.8 to 2.15.
    """
    settings = request.settings
    config = ("torch._inductor.config.fallback_random=True", *settings.config)
    return replace(request, settings=settings._replace(config=config))


def can_be_tried(change: Change) -> bool:
    """Whether this version knows the change's edit and options."""
    is_known = change.edit is None or change.edit in EDITS
    return is_known and all(option in _DYNAMIC for option in change.options)


def environment_of(changes: Sequence[Change], inherited: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment variables of all changes; lists are merged, also with the user's own values."""
    found: dict[str, str] = {}
    for change in changes:
        for name, value in ((variable.name, variable.value) for variable in change.environment):
            before = found.get(name, inherited.get(name, "")) if name in LIST_VARIABLES else ""
            known = before.split(",") if before else []
            found[name] = (
                ",".join(dict.fromkeys([*known, *value.split(",")])) if name in LIST_VARIABLES else value
            )
    return found


def source_change(place: Place | None, change: Change, called_at: Sequence[Place] = ()) -> SourceChange:
    """The change for a finding at `place` as edits of source.

    `called_at` are the program's calls of torch.compile.
    """
    if change.edit is not None:
        assert place is not None
        changes_callers = change.edit in CHANGES_CALLERS
        return SourceChange(lines=(LineEdit(place.file, place.line, edit_of(change), changes_callers),))
    calls = called_at if change.arguments else ()
    lines = tuple(LineEdit(call.file, call.line, _with_arguments(change.arguments)) for call in calls)
    return SourceChange(lines, change.settings, change.environment)


@cache
def _with_arguments(arguments: tuple[Assignment, ...]) -> Edit:
    """One and the same edit for equal arguments, so that a call that several findings name gets them once."""
    return partial(with_arguments, arguments=arguments)


def patches(
    program: Program, source_changes: Sequence[SourceChange], originals: Mapping[str, str] | None = None
) -> tuple[Patch, ...] | None:
    """The edited files; None where an edit is not possible, or a file is not the program's own.

    `originals` are texts to edit instead of what the files of these paths have.
    """
    known = originals or {}
    texts: dict[str, str] = {}
    befores: dict[str, str] = {}
    edits = list(dict.fromkeys(edit for change in source_changes for edit in change.lines))
    if not all(can_be_edited(program, edit.file) and _has_all_callers(program, edit) for edit in edits):
        return None
    edits = [replace(edit, file=os.path.realpath(edit.file)) for edit in edits]  # links to one file are one
    # From the bottom up, since an edit moves the lines below it.
    edits = sorted(dict.fromkeys(edits), key=lambda edit: (edit.file, -edit.line))
    steps: list[tuple[str, _Change]] = [(edit.file, partial(_apply, edit)) for edit in edits]
    settings = list(dict.fromkeys(s for change in source_changes for s in change.settings))
    environment = [Change(environment=change.environment) for change in source_changes if change.environment]
    if settings or environment:
        script = script_of(program)
        if script is None:
            return None
        values = [Assignment(name, value) for name, value in environment_of(environment, {}).items()]
        steps.append((str(script.resolve()), partial(_with_preamble, settings, values)))
    for file, change in steps:
        before = _text(file, texts, known)
        after = None if before is None else change(before)
        if before is None or after is None:
            return None
        befores.setdefault(file, before)
        texts[file] = after
    return tuple(Patch(file, befores[file], text) for file, text in texts.items())


def why_not_edited(program: Program, place: Place | None) -> str:
    """Why an edit at that place is not possible."""
    if place is None or not can_be_edited(program, place.file):
        return "the line is not in the program's own files"
    return "the line is not of the form that this edit can change"


def _text(file: str, edited: Mapping[str, str], originals: Mapping[str, str]) -> str | None:
    return edited[file] if file in edited else originals[file] if file in originals else _read(file)


def _has_all_callers(program: Program, edit: LineEdit) -> bool:
    """Whether all callers of what the edit changes are in its file: nothing imports a script."""
    script = script_of(program)
    return not edit.changes_callers or (script is not None and script.samefile(edit.file))


def _with_preamble(settings: list[Assignment], values: list[Assignment], text: str) -> str | None:
    """The script with settings and environment variables set at its top; None where that is not possible."""
    try:
        changed = with_settings(text, settings) if settings else text
        return with_environment(changed, values) if changed is not None and values else changed
    except ValueError:
        return None


def _apply(edit: LineEdit, text: str) -> str | None:
    """The edited text; None where the edit is not possible there."""
    try:
        return edit.edit(text, edit.line)
    except (ValueError, RecursionError):
        return None


def _read(file: str) -> str | None:
    """The text of a source file; None where it is not UTF-8 or cannot be read."""
    try:
        with open(file, "rb") as opened:
            if tokenize.detect_encoding(opened.readline)[0] != "utf-8":
                return None
        return Path(file).read_bytes().decode("utf-8")
    except (OSError, SyntaxError, UnicodeDecodeError):
        return None
