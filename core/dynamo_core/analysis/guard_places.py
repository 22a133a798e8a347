"""Whole paths for the file names that torch cuts short in the text of guards."""

from collections.abc import Iterable

from ..model import Place, Process


def whole_places(process: Process) -> dict[str, str | None]:
    """For the names that torch cut short in the guards of a process: the file, if only one can be meant.

    Source: torch/utils/_traceback.py (shorten_filename): what the file's path has in common with torch's own
    goes, and one character more, which is the slash unless they share nothing but the root.
    """
    files = set(_known_files(process))
    cut = {
        check.place.file
        for guard_set in (*process.guard_sets, *process.recompiled_entries)
        for check in guard_set.checks or ()
        if check.place is not None
    }
    cut |= {
        failure.place.file
        for reasons in process.recompile_reasons
        for failure in reasons.failures
        if failure.place is not None
    }
    return {name: _only(file for file in files if _is_cut_of(name, file)) for name in cut}


def _is_cut_of(name: str, file: str) -> bool:
    return file.endswith(name) and (file[: -len(name)].endswith("/") or len(file) - len(name) in (0, 2))


def _only(files: Iterable[str]) -> str | None:
    found = set(files)
    return found.pop() if len(found) == 1 else None


def _known_files(process: Process) -> Iterable[str]:
    for guard_set in process.guard_sets:
        yield from (guard.place.file for guard in guard_set.guards or () if guard.place is not None)
    places: list[Place | None] = [
        *(compile_.place for compile_ in process.compiles),
        *(frame.place for frame in process.frames),
        *(bytecode.place for bytecode in process.bytecodes),
        *(graph.frame_place for graph in process.graphs),
        *(symbol.place for symbol in process.symbols),
        *(caller.place for callers in process.callers.values() for caller in callers),
        *(frame.place for break_ in process.breaks for frame in (*break_.stack, *break_.callers)),
    ]
    yield from (place.file for place in places if place is not None)
