"""Which guards of a function were added and removed, where both runs compiled it equally often."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from ..analysis.guard_text import guard_words
from ..model import Compile, Guard, Process, Recording, function_of
from ..recording.guards import guards_of_function
from .difference import GuardChange
from .graph_pairs import FunctionLines, surplus
from .node_changes import SourceLines

# The most guards that are read for each side, which bounds memory.
_MOST_GUARDS = 10_000
_LOCAL = re.compile(r"\bL\['\w+'\]")
_ADDRESS = re.compile(r"(?<!\d)\d{9,}(?!\d)|0x[0-9a-f]+")


class _Demand(NamedTuple):
    """What a guard checks, without addresses, which differ in every run."""

    type: str
    source: str
    demands: str


Trait = Callable[[Guard], _Demand]


def functions_with_other_guards(
    before: Recording, after: Recording, renames: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """The functions with equally many cache entries and different guards, by their names on each side.

    Where one side has more entries, a break or a recompile already explains that there are more guards.
    """
    was, now = _counts(before, renames), _counts(after, {})
    originals = {new: old for old, new in renames.items()}
    found: tuple[list[str], list[str]] = [], []
    left = _MOST_GUARDS
    for function, (entries, guards) in was.items():
        others, other_guards = now.get(function, (0, 0))
        if entries == others and guards != other_guards and max(guards, other_guards) <= left:
            left -= max(guards, other_guards)
            found[0].append(originals.get(function, function))
            found[1].append(function)
    return found


def guard_contents(functions: list[str]) -> frozenset[str]:
    """The contents to ask the reader for: the guards of these functions."""
    return frozenset(map(guards_of_function, functions))


def guard_changes(
    before: Recording, after: Recording, renames: Mapping[str, str], function_lines: FunctionLines
) -> tuple[GuardChange, ...]:
    """The guards that only one side has, of functions whose guards were read on both sides."""
    was, now = _guards(before, renames), _guards(after, {})
    lines = SourceLines(before), SourceLines(after)
    found: list[GuardChange] = []
    for function in was.keys() & now.keys():
        removed, added = _unmatched(
            was[function], now[function], with_demands=not function_lines.is_another_torch
        )
        is_of_torch = function_lines.function_is_unchanged(function)
        for guards, sign, known in ((removed, -1, lines[0]), (added, 1, lines[1])):
            changes = _changes(function, guards, sign, known)
            found += [replace(change, is_of_torch=is_of_torch) for change in changes]
    return tuple(sorted(found, key=lambda change: (change.function, change.count < 0, not change.text)))


def _counts(recording: Recording, renames: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    """The number of cache entries of each function, and of their guards."""
    found: dict[str, tuple[int, int]] = {}
    for compile_ in _entries(recording):
        name = function_of(compile_.name)
        function = renames.get(name, name)
        entries, guards = found.get(function, (0, 0))
        found[function] = entries + 1, guards + (compile_.guards or 0)
    return found


def _entries(recording: Recording) -> Iterator[Compile]:
    for process in recording.processes:
        yield from (each for each in process.compiles if each.guards is not None)


def _guards(recording: Recording, renames: Mapping[str, str]) -> dict[str, list[Guard]]:
    found: dict[str, list[Guard]] = {}
    for process in recording.processes:
        names = _names(process)
        for guards in process.guard_sets:
            name = names.get(guards.compile_id, "")
            found.setdefault(renames.get(name, name), []).extend(guards.guards or ())
    return found


def _names(process: Process) -> dict[object, str]:
    return {
        compile_.compile_id: function_of(compile_.name)
        for compile_ in process.compiles
        if compile_.name is not None
    }


def _unmatched(was: list[Guard], now: list[Guard], with_demands: bool) -> tuple[list[Guard], list[Guard]]:
    """The guards without a match on the other side: with the names of locals, or else without them."""
    traits: list[Trait] = [_demand, lambda guard: _without_locals(_demand(guard))]
    if not with_demands:
        traits.append(lambda guard: _without_locals(_demand(guard))._replace(demands=""))
    for trait in traits:
        before, after = list(map(trait, was)), list(map(trait, now))
        was, now = surplus(was, after, trait), surplus(now, before, trait)
    return was, now


def _demand(guard: Guard) -> _Demand:
    demands = guard_words(guard.type, guard.source, guard.code)
    return _Demand(guard.type, _ADDRESS.sub("…", guard.source), _ADDRESS.sub("…", demands))


def _without_locals(what: _Demand) -> _Demand:
    return _Demand(what.type, _LOCAL.sub("L[_]", what.source), _LOCAL.sub("L[_]", what.demands))


def _changes(function: str, guards: list[Guard], sign: int, lines: SourceLines) -> Iterator[GuardChange]:
    """The changes; guards that check the same are one change."""
    count = Counter(map(_demand, guards))
    for guard in guards:
        what = _demand(guard)
        if count[what]:
            yield GuardChange(function, *what, sign * count.pop(what), guard.place, lines.at(guard.place))
