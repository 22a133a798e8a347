"""Which guards of a function came and went, where both runs compiled it as often."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from ..analysis.guard_text import guard_words
from ..model import Compile, Guard, Process, Recording, function_of
from ..recording.guards import guards_of_function
from .difference import GuardChange
from .graph_pairs import OwnLines
from .node_changes import SourceLines

# Guards that are read for each side, so that memory is bounded.
_MOST_GUARDS = 10_000
_LOCAL = re.compile(r"\bL\['\w+'\]")
_ADDRESS = re.compile(r"(?<!\d)\d{9,}(?!\d)|0x[0-9a-f]+")


class _What(NamedTuple):
    type: str
    source: str
    demands: str


Trait = Callable[[Guard], _What]


def functions_with_other_guards(
    before: Recording, after: Recording, renames: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """The functions, by the names that each side has, with as many cache entries and other guards.

    Where one has more entries than the other, a break or a recompile says why there are more guards.
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


def guards_wanted(functions: list[str]) -> frozenset[str]:
    """The contents to ask the reader for."""
    return frozenset(map(guards_of_function, functions))


def guard_changes(
    before: Recording, after: Recording, renames: Mapping[str, str], own_lines: OwnLines
) -> tuple[GuardChange, ...]:
    """The guards of one side alone, of functions whose guards were read on both sides."""
    was, now = _guards(before, renames), _guards(after, {})
    lines = SourceLines(before), SourceLines(after)
    found: list[GuardChange] = []
    for function in was.keys() & now.keys():
        gone, come = _unlike(was[function], now[function], with_demands=not own_lines.is_another_torch)
        is_of_torch = own_lines.function_is_the_same(function)
        for guards, sign, known in ((gone, -1, lines[0]), (come, 1, lines[1])):
            changes = _changes(function, guards, sign, known)
            found += [replace(change, is_of_torch=is_of_torch) for change in changes]
    return tuple(sorted(found, key=lambda change: (change.function, change.count < 0, not change.text)))


def _counts(recording: Recording, renames: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    """Of each function: its cache entries and their guards."""
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


def _unlike(was: list[Guard], now: list[Guard], with_demands: bool) -> tuple[list[Guard], list[Guard]]:
    """Those that the other side has none of: with the names of locals, and else without them."""
    traits: list[Trait] = [_what, lambda guard: _without_locals(_what(guard))]
    if not with_demands:
        traits.append(lambda guard: _without_locals(_what(guard))._replace(demands=""))
    for trait in traits:
        kinds = [Counter(map(trait, side)) for side in (was, now)]
        was, now = _beyond(was, kinds[1], trait), _beyond(now, kinds[0], trait)
    return was, now


def _beyond(guards: list[Guard], others: Counter[_What], trait: Trait) -> list[Guard]:
    left = []
    for guard in guards:
        what = trait(guard)
        others[what] -= 1
        if others[what] < 0:
            left.append(guard)
    return left


def _what(guard: Guard) -> _What:
    demands = guard_words(guard.type, guard.source, guard.code)
    return _What(guard.type, _ADDRESS.sub("…", guard.source), _ADDRESS.sub("…", demands))


def _without_locals(what: _What) -> _What:
    return _What(what.type, _LOCAL.sub("L[_]", what.source), _LOCAL.sub("L[_]", what.demands))


def _changes(function: str, guards: list[Guard], sign: int, lines: SourceLines) -> Iterator[GuardChange]:
    """Guards that demand the same of the same are one change."""
    count = Counter(map(_what, guards))
    for guard in guards:
        what = _what(guard)
        if count[what]:
            yield GuardChange(function, *what, sign * count.pop(what), guard.place, lines.at(guard.place))
