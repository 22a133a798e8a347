"""The values of options and arguments: choices, backends, stages, and what a recording has."""

import pkgutil
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import click

from dynamo_core.model import Recording, resumed_function
from dynamo_core.recording import files
from dynamo_core.shared.backend_choice import MODES, OURS
from dynamo_core.shared.errors import DynamoError
from dynamo_core.shared.quick_dataclass import dataclass

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
        from dynamo_reporters.graphs.stages import GROUPS, STAGES

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
    """Those in .dynamo, the newest first."""
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
