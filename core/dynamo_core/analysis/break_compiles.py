"""What a graph break adds to compiling: its frame is compiled in parts, each with costs of its own."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from ..model import CompileId, Process
from .break_effects import Crossing, DistinctBreak
from .recompile_echoes import CompileKey, compile_key
from .time.wall import across_ranks

Seconds = Mapping[CompileKey, float]


def compile_seconds(processes: Iterable[Process]) -> Seconds:
    """The seconds of each compile, with those of its backward graph."""
    found: dict[CompileKey, float] = {}
    for process in processes:
        for each in process.compiles:
            key = compile_key(process.stream, each.compile_id)
            found[key] = found.get(key, 0.0) + (each.seconds or 0.0)
    return found


def seconds_in_parts(distinct: DistinctBreak, took: Seconds, recompiles: frozenset[CompileKey]) -> float:
    """What compiling one graph instead of two saves at most, in s; with ranks, that of the worst rank.

    One graph takes at least as long as the larger part of it. `took` has the seconds of all compiles. The
    `recompiles` are not counted: the break pays for them already.
    """
    crossings: dict[Path, list[Crossing]] = {}
    for crossing in distinct.crossings:
        crossings.setdefault(crossing.process.stream, []).append(crossing)
    return across_ranks(
        (each[0].process, _seconds(distinct, each, took, recompiles)) for each in crossings.values()
    )


def _seconds(
    distinct: DistinctBreak, crossings: Iterable[Crossing], took: Seconds, recompiles: frozenset[CompileKey]
) -> float:
    """What is saved at most in one process, which has these crossings."""
    # Versions of one code have the same code behind them, which is then one and the same tuple.
    versions: dict[int, list[Crossing]] = {}
    for crossing in crossings:
        versions.setdefault(id(crossing.resumed), []).append(crossing)
    # A function that others inline as soon as the break is gone is not compiled by itself any more.
    inlined_at = distinct.least_depth if distinct.inlined_by else None
    compiles: set[CompileKey] = set()
    saved = 0.0
    for same in versions.values():
        behind = _keys(same[0], same[0].resumed) - recompiles
        before = _keys(same[0], (crossing.compile_id for crossing in same)) - behind - recompiles
        compiles |= before | behind
        sides = [sum(took.get(key, 0.0) for key in keys) for keys in (before, behind)]
        is_inlined = same[0].depth == inlined_at
        saved += sum(sides) if is_inlined else min(sides) if before else sides[1]
    each = [took.get(key, 0.0) for key in compiles]
    return min(saved, sum(each) - max(each, default=0.0))


def _keys(crossing: Crossing, compile_ids: Iterable[CompileId | None]) -> set[CompileKey]:
    return {compile_key(crossing.process.stream, each) for each in compile_ids}
