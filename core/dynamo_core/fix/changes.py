"""A remedy's change put to work: for one run of the program, and as lines of its files for good."""

import os
import tokenize
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..findings import Finding
from ..launch.program import Program
from ..launch.run import Request
from ..model import Place, Recording
from ..remedies.rules import Assignment, Change
from ..shared.quick_dataclass import dataclass
from .edits import CHANGES_CALLERS, EDITS, edit_of
from .edits.lines import with_arguments, with_environment, with_settings
from .trial import Patch, can_be_edited, script_of

# Of these variables several values make one list.
_LISTS = ("TORCH_COMPILE_DYNAMIC_SOURCES", "TORCH_COMPILE_UNBACKED_SOURCES", "TORCH_COMPILE_STATIC_SOURCES")
_DYNAMIC = {"--dynamic": True, "--no-dynamic": False}


@dataclass(frozen=True)
class LineEdit:
    """An edit of what stands on a line of a file; one that `changes_callers` must know them all."""

    file: str
    line: int
    edit: Callable[[str, int], str | None]
    changes_callers: bool = False


@dataclass(frozen=True)
class ForGood:
    """What a change is as lines of the program: edits at places, and what is set at the top of the script."""

    lines: tuple[LineEdit, ...] = ()
    settings: tuple[Assignment, ...] = ()
    environment: tuple[Assignment, ...] = ()


def with_change(request: Request, change: Change) -> Request:
    """The request for a run with the change's settings, arguments and options; edits are the overlay's."""
    settings = request.settings
    settings = settings._replace(
        config=(*settings.config, *map(str, change.settings)),
        override=(*settings.override, *map(str, change.arguments)),
    )
    for option in change.options:
        settings = settings._replace(dynamic=_DYNAMIC[option])
    return replace(request, settings=settings)


def can_be_tried(change: Change) -> bool:
    """Whether it is known here how to put it to work."""
    is_known = change.edit is None or change.edit in EDITS
    return is_known and all(option in _DYNAMIC for option in change.options)


def variables(changes: Sequence[Change], inherited: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment variables of all changes; those that are lists are joined, with the user's own too."""
    found: dict[str, str] = {}
    for change in changes:
        for name, value in ((each.name, each.value) for each in change.environment):
            before = found.get(name, inherited.get(name, "")) if name in _LISTS else ""
            known = before.split(",") if before else []
            found[name] = ",".join(dict.fromkeys([*known, *value.split(",")])) if name in _LISTS else value
    return found


def for_good(finding: Finding, change: Change, called_at: Sequence[Place] = ()) -> ForGood:
    """What to write into the program's files; `called_at` are its calls of torch.compile."""
    if change.edit is not None:
        place = finding.place
        assert place is not None
        changes_callers = change.edit in CHANGES_CALLERS
        return ForGood(lines=(LineEdit(place.file, place.line, edit_of(change), changes_callers),))
    arguments = partial(with_arguments, arguments=change.arguments)
    calls = called_at if change.arguments else ()
    lines = tuple(LineEdit(place.file, place.line, arguments) for place in calls)
    return ForGood(lines, change.settings, change.environment)


def patches(program: Program, all_of_them: Sequence[ForGood]) -> tuple[Patch, ...] | None:
    """The edited files; None where one of the edits does not fit, or a file is not the program's own."""
    texts: dict[str, str] = {}
    befores: dict[str, str] = {}
    lines = list(dict.fromkeys(each for change in all_of_them for each in change.lines))
    if not all(can_be_edited(program, each.file) and _has_all_callers(program, each) for each in lines):
        return None
    lines = [replace(each, file=os.path.realpath(each.file)) for each in lines]  # one file, one name
    # From the bottom up: an edit moves only the lines below it.
    for each in sorted(dict.fromkeys(lines), key=lambda edit: (edit.file, -edit.line)):
        before = _read(each.file) if each.file not in texts else texts[each.file]
        after = None if before is None else _tried(each.edit, before, each.line)
        if before is None or after is None:
            return None
        befores.setdefault(each.file, before)
        texts[each.file] = after
    settings = list(dict.fromkeys(s for change in all_of_them for s in change.settings))
    environment = [Change(environment=change.environment) for change in all_of_them if change.environment]
    if settings or environment:
        script = script_of(program)
        file = None if script is None else str(script.resolve())
        before = None if file is None else texts.get(file, _read(file))
        if file is None or before is None:
            return None
        values = [Assignment(name, value) for name, value in variables(environment, {}).items()]
        after = _with_preamble(before, settings, values)
        if after is None:
            return None
        befores.setdefault(file, before)
        texts[file] = after
    return tuple(Patch(file, befores[file], text) for file, text in texts.items())


def _has_all_callers(program: Program, edit: LineEdit) -> bool:
    """Whether nobody calls what it changes from another file: nothing imports a script."""
    script = script_of(program)
    return not edit.changes_callers or (script is not None and script.samefile(edit.file))


def _with_preamble(text: str, settings: list[Assignment], values: list[Assignment]) -> str | None:
    try:
        changed = with_settings(text, settings) if settings else text
        return with_environment(changed, values) if changed is not None and values else changed
    except ValueError:
        return None


def _tried(edit: Callable[[str, int], str | None], text: str, line: int) -> str | None:
    try:
        return edit(text, line)
    except (ValueError, RecursionError):
        return None


def _read(file: str) -> str | None:
    """The text of a source file in UTF-8; None where it is another or cannot be read."""
    try:
        with open(file, "rb") as opened:
            if tokenize.detect_encoding(opened.readline)[0] != "utf-8":
                return None
        return Path(file).read_bytes().decode("utf-8")
    except (OSError, SyntaxError, UnicodeDecodeError):
        return None


def replaced_calls(recording: Recording) -> tuple[Place, ...]:
    """The program's calls of torch.compile in which arguments were replaced."""
    found = [each.place for process in recording.processes for each in process.overrides]
    return tuple(dict.fromkeys(place for place in found if place is not None))
