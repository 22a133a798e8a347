"""The cache entries of a process, with the compiles that made them, and the compiles that have none."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from dynamo_core.analysis.guard_places import whole_places
from dynamo_core.analysis.words import compile_label, frame_name, number, place
from dynamo_core.model import Compile, CompileId, GuardCheck, GuardSet, Place, Process
from dynamo_core.shared.quick_dataclass import dataclass


@dataclass(frozen=True)
class Entry:
    """A cache entry with the compile that made it, where that was recorded."""

    guard_set: GuardSet
    generation: int  # how often its compile id was met before, as after torch._dynamo.reset()
    compile: Compile | None

    @property
    def guard_count(self) -> int | None:
        """torch's guard_count, or what we counted where torch's metrics do not say."""
        if self.compile is not None and self.compile.guards is not None:
            return self.compile.guards
        return None if self.guard_set.guards is None else len(self.guard_set.guards)


def entries_of(process: Process) -> list[Entry]:
    """The cache entries of a process by frame, with file names whole and the compiles that they are of."""
    compiles: dict[CompileId | None, list[Compile]] = {}
    for compile_ in process.compiles:
        if compile_.is_forward and compile_.guards is not None:
            compiles.setdefault(compile_.compile_id, []).append(compile_)
    files = whole_places(process)
    met: Counter[CompileId | None] = Counter()
    entries = []
    for guard_set in process.guard_sets:
        generation = met[guard_set.compile_id]
        met[guard_set.compile_id] += 1
        same_id = compiles.get(guard_set.compile_id, [])
        own = same_id[generation] if generation < len(same_id) else None
        entries.append(Entry(_with_whole_places(guard_set, files), generation, own))
    return sorted(entries, key=_order)


def _order(entry: Entry) -> tuple[int, ...]:
    compile_id = entry.guard_set.compile_id or CompileId(None, None)
    parts = (compile_id.autograd, compile_id.frame, compile_id.compile)
    return (entry.generation, *(-1 if part is None else part for part in parts))


def _with_whole_places(guard_set: GuardSet, files: dict[str, str | None]) -> GuardSet:
    def whole(check: GuardCheck) -> GuardCheck:
        file = files.get(check.place.file) if check.place is not None else None
        if check.place is None or file is None:
            return check
        return replace(check, place=Place(file, check.place.line))

    checks = guard_set.checks
    return guard_set if checks is None else replace(guard_set, checks=tuple(map(whole, checks)))


def by_frame(entries: Iterable[Entry]) -> list[list[Entry]]:
    """The entries of each frame; a compile id that comes back is of another frame."""
    frames: dict[object, list[Entry]] = {}
    for entry in entries:
        compile_id = entry.guard_set.compile_id
        frame = (compile_id.autograd, compile_id.frame) if compile_id else None
        frames.setdefault((entry.generation, frame), []).append(entry)
    return list(frames.values())


def entries_lost(process: Process, entries: Sequence[Entry]) -> int:
    """How many compiles made a cache entry, since they have guards, of which no guard is there."""
    return sum(bool(compile_.guards) for compile_ in _without_entry(process, entries))


def _without_entry(process: Process, entries: Sequence[Entry]) -> Iterator[Compile]:
    known = {entry.guard_set.compile_id for entry in entries}
    for compile_ in process.compiles:
        if compile_.is_forward and compile_.compile_id not in known:
            yield compile_


def without_guards(process: Process, entries: Sequence[Entry]) -> list[str]:
    """The compiles whose guards are not there, each with the reason where one is known."""
    found = []
    for compile_ in _without_entry(process, entries):
        frame = frame_name(compile_.name, compile_.method)
        name = f"{compile_label(compile_.compile_id)} {frame} ({place(compile_.place)})"
        if compile_.fail_type is not None:
            found.append(f"{name}: no guards, as the compile failed: {compile_.fail_type}")
        else:
            lost = f"{number(compile_.guards, 'guard')}, which were not recorded"
            found.append(f"{name}: {lost if compile_.guards else 'no guards'}")
    return found
