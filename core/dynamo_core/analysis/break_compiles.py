"""What a graph break adds to compiling: its frame is compiled in parts, each with costs of its own."""

from collections.abc import Iterable

from ..model import CompileId, Process
from .break_effects import Crossing, DistinctBreak
from .recompile_echoes import CompileKey, compile_key
from .time.wall import across_ranks


def seconds_in_parts(distinct: DistinctBreak, recompiles: frozenset[CompileKey]) -> float:
    """What compiling one graph instead of two saves at most, in s; with ranks, that of the worst rank.

    One graph takes at least as long as the larger part of it. `recompiles` are not counted: the break pays
    for them already.
    """
    return across_ranks((process, _seconds(distinct, process, recompiles)) for process in distinct.processes)


def _seconds(distinct: DistinctBreak, process: Process, recompiles: frozenset[CompileKey]) -> float:
    took = {key: seconds for key, seconds in _compiles(process).items() if key not in recompiles}
    parts: dict[int, tuple[list[Crossing], set[CompileKey]]] = {}
    for crossing in distinct.crossings:
        if crossing.process.stream == process.stream:
            # Versions of one code have the same code behind them, which is then one and the same tuple.
            crossings, behind = parts.setdefault(id(crossing.resumed), ([], set()))
            crossings.append(crossing)
            behind |= _keys(process, crossing.resumed)
    all_keys: set[CompileKey] = set()
    saved = 0.0
    for crossings, behind in parts.values():
        before = _keys(process, (crossing.compile_id for crossing in crossings)) - behind
        all_keys |= before | behind
        sides = [sum(took.get(key, 0.0) for key in keys) for keys in (before, behind)]
        # A function that others inline as soon as the break is gone is not compiled by itself any more.
        inlined = distinct.inlined_by and crossings[0].depth == distinct.least_depth
        saved += sum(sides) if inlined else min(sides) if before else sides[1]
    each = [took.get(key, 0.0) for key in all_keys]
    return min(saved, sum(each) - max(each, default=0.0))


def _compiles(process: Process) -> dict[CompileKey, float]:
    """The seconds of each compile with its backward graph."""
    found: dict[CompileKey, float] = {}
    for each in process.compiles:
        key = compile_key(process.stream, each.compile_id)
        found[key] = found.get(key, 0.0) + (each.seconds or 0.0)
    return found


def _keys(process: Process, compile_ids: Iterable[CompileId | None]) -> set[CompileKey]:
    return {compile_key(process.stream, each) for each in compile_ids}
