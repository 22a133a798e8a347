"""What completes our values in a shell, as callbacks of click: backends, stages, what a recording has."""

import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
)

from dynamo_core.model import Process, resumed_function
from dynamo_core.recording import files
from dynamo_core.shared.backend_choice import MODES, OURS
from dynamo_core.shared.errors import DynamoError

Items = list[CompletionItem]
Callback = Callable[[click.Context, click.Parameter, str], Items]
# The target on the command line, by this key of the context's `meta`; the newest recording without one.
TARGET_KEY = "dynamo_cli.completion_target"
_BACKENDS = ("inductor", "eager", "aot_eager", "cudagraphs", *OURS)  # those of torch itself and ours


def file_item(incomplete: str) -> CompletionItem:
    """Has the shell add files, of which it knows more."""
    return CompletionItem(incomplete, type="file")


def _fitting(incomplete: str, values: Iterable[tuple[str, str]]) -> Items:
    """Each value with what it is, once, of those that begin with what is typed."""
    found = dict.fromkeys((value, about) for value, about in values if value.startswith(incomplete))
    return [CompletionItem(value, help=about or None) for value, about in found]


def one_of(values: Iterable[str]) -> Callback:
    """Completes one of these."""
    return lambda ctx, parameter, incomplete: _fitting(incomplete, ((value, "") for value in values))


def files_too(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
    """Files, for what is a path or something else."""
    return [file_item(incomplete)]


def stages(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
    """The stages of a graph, and groups of them."""
    from dynamo_reporters.graphs.document import GROUPS, STAGES

    return one_of([*STAGES, *GROUPS])(ctx, parameter, incomplete)


def chain(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
    """Backends, behind the comma where there are several; a file's functions are a file first."""
    before, comma, last = incomplete.rpartition(",")
    backend, colon, _ = last.partition(":")
    names = [f"{backend}:{mode}" for mode in MODES] if colon and backend == "inductor" else _BACKENDS
    found = _fitting(incomplete, ((f"{before}{comma}{name}", "") for name in names))
    return found if comma else [file_item(incomplete), *found]


backends = one_of(_BACKENDS)
modes = one_of(MODES)


def recordings(incomplete: str) -> Items:
    """The recordings in .dynamo, the newest first."""
    try:
        found = files.recordings()
    except DynamoError:
        return []
    return _fitting(incomplete, ((str(path), "recording") for path in reversed(found)))


def recordings_or_files(incomplete: str) -> Items:
    """Recordings, and files; where a recording is meant, its folder would be in the way."""
    found = recordings(incomplete)
    return found if incomplete and found else [file_item(incomplete), *found]


def modules(incomplete: str) -> Items:
    """Modules that `-m` could run: those in the current folder, and with a letter or more, installed ones.

    Packages are looked into without being imported.
    """
    package, _, _ = incomplete.rpartition(".")
    folder = Path(*package.split(".")) if package else Path()
    prefix = f"{package}." if package else ""
    found = pkgutil.iter_modules([str(folder)] if package or not incomplete else [".", *sys.path])
    return _fitting(incomplete, ((prefix + module.name, "") for module in found))


# What a recording has.


def _from_recording(look: Callable[[Process], Iterable[tuple[str, str]]]) -> Callback:
    def complete(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
        from dynamo_core.recording.read import read

        try:
            recording = read(ctx.meta.get(TARGET_KEY) or files.newest())
        except (DynamoError, OSError):
            return []
        return _fitting(incomplete, (each for process in recording.processes for each in look(process)))

    return complete


def _frames(process: Process) -> Iterator[tuple[str, str]]:
    for frame in (*process.graphs, *process.frames):
        name = getattr(frame, "frame_name", None) or getattr(frame, "name", None)
        place = getattr(frame, "frame_place", None) or getattr(frame, "place", None)
        if name is not None and resumed_function(name) is None:
            yield name, f"{Path(place.file).name}:{place.line}" if place else ""


frames = _from_recording(_frames)
compile_ids = _from_recording(
    lambda process: ((str(each.compile_id), each.name or "") for each in process.compiles if each.compile_id)
)
graphs = _from_recording(
    lambda process: (
        (str(each.number), f"{each.frame_name or 'graph'} [{each.compile_id}]") for each in process.graphs
    )
)
source_files = _from_recording(
    lambda process: (
        (Path(each.frame_place.file).name, each.frame_place.file)
        for each in process.graphs
        if each.frame_place is not None
    )
)


# The shells, where click leaves out what stands before a value in the same word.

_BREAKS = ("=", ":")  # where bash ends a word as well


class _WholeWords(ShellComplete):
    """Gives `--option=VALUE` where click gives VALUE alone, which zsh and fish would put in its place."""

    def get_completions(self, args: list[str], incomplete: str) -> Items:
        """What completes the word as it stands on the line."""
        found = super().get_completions(args, incomplete)
        name, equals, _ = incomplete.partition("=")
        if equals and name.startswith("--"):
            for item in found:
                item.value = item.value if item.type != "plain" else f"{name}={item.value}"
        return found


class _Zsh(_WholeWords, ZshComplete):
    pass


class _Fish(_WholeWords, FishComplete):
    pass


class _Bash(_WholeWords, BashComplete):
    """Joins the pieces of a word that bash gives apart, and gives what completes the last piece."""

    _cut = 0

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before, and the whole word that is completed."""
        args, last = super().get_completion_args()
        words = [""]
        for piece in (*args, last):
            if piece in _BREAKS or words[-1].endswith(_BREAKS):
                words[-1] += piece
            else:
                words.append(piece)
        self._cut = len(words[-1]) - (0 if last in _BREAKS else len(last))
        return words[1:-1], words[-1]

    def format_completion(self, item: CompletionItem) -> str:
        """What stands for the last piece."""
        if item.type == "plain":
            item.value = item.value[self._cut :]
        return super().format_completion(item)


def use_whole_words() -> None:
    """Have click complete whole words."""
    for shell in (_Bash, _Zsh, _Fish):
        add_completion_class(shell)
