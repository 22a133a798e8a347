"""What may stand at the end of a command line: commands, options, their values, targets, or files."""

import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import click

from dynamo_core.launch.program import Program, split_command_line
from dynamo_core.model import Recording, resumed_function
from dynamo_core.recording import files
from dynamo_core.shared.backend_choice import MODES, OURS
from dynamo_core.shared.errors import DynamoError
from dynamo_core.shared.quick_dataclass import dataclass

from .help_pages import first_clause
from .program import ProgramCommand, options_with_value
from .report_command import ReportCommand, is_to_be_run

# The values of options and arguments: choices, backends, stages, and what a recording has.


FILES, FOLDERS, COMMANDS = ":files", ":folders", ":commands"
FROM_THE_SHELL = (FILES, FOLDERS, COMMANDS)  # it knows about `~`, quotes and slashes

_BACKENDS = ("inductor", "eager", "aot_eager", "cudagraphs", *OURS)  # those of torch itself and ours


@dataclass(frozen=True)
class Suggestion:
    """A whole word, and what it is; or one of FROM_THE_SHELL."""

    value: str
    description: str = ""


def of_parameter(parameter: click.Parameter, current: str, target: Path | None) -> Iterator[Suggestion]:
    """The values that it may have; those from a recording are of `target`, or of the newest one."""
    name = parameter.name or ""
    if isinstance(parameter.type, click.Choice):
        yield from map(Suggestion, map(str, parameter.type.choices))
    elif name in ("backend", "backends", "candidates"):
        yield from _chain(current)
    elif isinstance(parameter, click.Argument) and name == "name":
        yield from map(Suggestion, _BACKENDS)
    elif name == "mode":
        yield from map(Suggestion, MODES)
    elif name == "stages":
        from dynamo_reporters.graphs.document import GROUPS, STAGES

        yield from map(Suggestion, [*STAGES, *GROUPS])
    elif name in _FROM_RECORDING:
        yield from _from_recording(_FROM_RECORDING[name], target)
    elif name in ("before", "after"):
        yield from recordings()
        yield Suggestion(FILES)
    elif isinstance(parameter.type, click.Path):
        yield Suggestion(FILES if parameter.type.file_okay and name != "folder" else FOLDERS)
    elif name == "python":
        yield Suggestion(FILES)


def recordings() -> Iterator[Suggestion]:
    """The recordings in .dynamo, the newest first."""
    try:
        found = files.recordings()
    except DynamoError:
        return
    for path in reversed(found):
        yield Suggestion(str(path), "recording")


def modules(current: str) -> Iterator[Suggestion]:
    """Modules that `-m` could run: those in the current folder, and with a letter or more, installed ones.

    Packages are looked into without being imported.
    """
    package, _, _ = current.rpartition(".")
    folder = Path(*package.split(".")) if package else Path()
    places = [str(folder)] if package or not current else None
    prefix = f"{package}." if package else ""
    for found in pkgutil.iter_modules(places):
        yield Suggestion(prefix + found.name)
    if places is None:
        for found in pkgutil.iter_modules(["."]):
            yield Suggestion(found.name)


def _chain(current: str) -> Iterator[Suggestion]:
    """Backends, behind the comma where there are several; a file's functions are a file first."""
    before, comma, last = current.rpartition(",")
    backend, colon, _ = last.partition(":")
    names = [f"{backend}:{mode}" for mode in MODES] if colon and backend == "inductor" else _BACKENDS
    for name in names:
        yield Suggestion(f"{before}{comma}{name}")
    if not comma:
        yield Suggestion(FILES)


def _from_recording(
    look: Callable[[Recording], Iterable[tuple[str, str]]], target: Path | None
) -> Iterator[Suggestion]:
    from dynamo_core.recording.read import read

    try:
        recording = read(target or files.newest())
    except (DynamoError, OSError):
        return
    for value, description in dict.fromkeys(look(recording)):
        yield Suggestion(value, description)


def _frames(recording: Recording) -> Iterator[tuple[str, str]]:
    for process in recording.processes:
        for frame in (*process.graphs, *process.frames):
            name = getattr(frame, "frame_name", None) or getattr(frame, "name", None)
            place = getattr(frame, "frame_place", None) or getattr(frame, "place", None)
            if name is not None and resumed_function(name) is None:
                yield name, f"{Path(place.file).name}:{place.line}" if place else ""


def _compile_ids(recording: Recording) -> Iterator[tuple[str, str]]:
    for process in recording.processes:
        for compile_ in process.compiles:
            if compile_.compile_id is not None:
                yield str(compile_.compile_id), compile_.name or ""


def _graphs(recording: Recording) -> Iterator[tuple[str, str]]:
    for process in recording.processes:
        for graph in process.graphs:
            yield str(graph.number), f"{graph.frame_name or 'graph'} [{graph.compile_id}]"


def _files(recording: Recording) -> Iterator[tuple[str, str]]:
    for process in recording.processes:
        for graph in process.graphs:
            if graph.frame_place is not None:
                yield Path(graph.frame_place.file).name, graph.frame_place.file


def _ranks(recording: Recording) -> Iterator[tuple[str, str]]:
    for process in recording.processes:
        if process.rank is not None:
            yield str(process.rank), ""


def _steps(recording: Recording) -> Iterator[tuple[str, str]]:
    for process in recording.processes:
        for callers in process.callers.values():
            for caller in callers:
                if not fnmatchcase(caller.function, "<*>"):
                    yield caller.function, f"{Path(caller.place.file).name}:{caller.place.line}"
    yield from _frames(recording)


_FROM_RECORDING: dict[str, Callable[[Recording], Iterable[tuple[str, str]]]] = {
    "frame": _frames,
    "compile_id": _compile_ids,
    "graph": _graphs,
    "runnable": _graphs,
    "file": _files,
    "rank": _ranks,
    "step": _steps,
}


# What may stand at the end of a command line:


def suggestions(group: click.Group, described: Mapping[str, str], words: Sequence[str]) -> list[Suggestion]:
    """What completes the last of the words, which may be empty; `words` are those behind `dynamo`."""
    *before, current = words or [""]
    if before and before[0] == "help":
        before = before[1:]
    if not before:
        found: Iterator[Suggestion] = (Suggestion(name, what) for name, what in described.items())
    elif before[0] in described:
        command = group.get_command(click.Context(group), before[0])
        found = iter(()) if command is None else _of_command(command, before[1:], current)
    else:
        found = iter(())
    return [each for each in found if each.value in FROM_THE_SHELL or each.value.startswith(current)]


def _of_command(command: click.Command, before: list[str], current: str) -> Iterator[Suggestion]:
    with_value = options_with_value(command)
    own, program = before, None
    if isinstance(command, ProgramCommand):
        own, program = split_command_line(before, with_value)
    if program is not None:
        yield from _behind_target(command, program, current)
    elif before[-1:] == ["--"]:
        yield Suggestion(COMMANDS)
    elif (option := _awaiting_value(own, with_value)) is not None:
        yield from _values(command, option, current, None)
    elif current.startswith("-") and current != "-":
        yield from _options(command, current, None)
    elif isinstance(command, ProgramCommand):
        fitting = [each for each in recordings() if each.value.startswith(current)]
        yield from fitting if isinstance(command, ReportCommand) else ()
        if not (current and fitting):  # else its folder would be in the way
            yield Suggestion(FILES)
    else:
        yield from _arguments(command, own, with_value)


def _behind_target(command: click.Command, program: Program, current: str) -> Iterator[Suggestion]:
    """Files, which are all that can be known of a program's arguments; options behind a recording."""
    first, *rest = program.arguments
    if program.is_python and first == "-m" and not rest:
        yield from modules(current)
    elif not isinstance(command, ReportCommand) or is_to_be_run(program):
        yield Suggestion(FILES)
    elif (option := _awaiting_value(rest, options_with_value(command))) is not None:
        yield from _values(command, option, current, Path(first))
    else:
        yield from _options(command, current, Path(first))


def _awaiting_value(own: Sequence[str], with_value: frozenset[str]) -> str | None:
    """The option at the end that has no value yet."""
    position = 0
    while position < len(own):
        if own[position] in with_value:
            if position + 1 == len(own):
                return own[position]
            position += 1
        position += 1
    return None


def _options(command: click.Command, current: str, target: Path | None) -> Iterator[Suggestion]:
    """The names of options, or, behind `--option=`, its values."""
    name, equals, _ = current.partition("=")
    if equals:
        for each in _values(command, name, current.removeprefix(f"{name}="), target):
            is_word = each.value not in FROM_THE_SHELL
            yield Suggestion(f"{name}={each.value}", each.description) if is_word else each
        return
    for parameter in command.get_params(click.Context(command)):
        if isinstance(parameter, click.Option):
            for option in (*parameter.opts, *parameter.secondary_opts):
                yield Suggestion(option, first_clause(parameter.help or ""))


def _values(command: click.Command, name: str, current: str, target: Path | None) -> Iterator[Suggestion]:
    for parameter in command.params:
        if name in parameter.opts:
            yield from of_parameter(parameter, current, target)


def _arguments(
    command: click.Command, own: Sequence[str], with_value: frozenset[str]
) -> Iterator[Suggestion]:
    """What the next argument of a command may be that takes no program."""
    given, position = 0, 0
    while position < len(own):
        given += not own[position].startswith("-")
        position += 2 if own[position] in with_value else 1
    wanted = [parameter for parameter in command.params if isinstance(parameter, click.Argument)]
    if wanted and (given < len(wanted) or wanted[-1].nargs < 0):
        yield from of_parameter(wanted[min(given, len(wanted) - 1)], "", None)
