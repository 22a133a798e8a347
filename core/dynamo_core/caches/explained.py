"""What torch's caches were worth in a run: each layer, each look-up, and why what was compiled anew was."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from ..analysis.summary import ByCompile, by_compile
from ..analysis.words import cache_name, number, seconds
from ..model import CompileId, Graph, Process, Recording
from ..shared.quick_dataclass import dataclass
from .causes import (
    FIRST_RUN,
    Cause,
    KernelBuild,
    Off,
    OtherLayer,
    caches_of,
    causes_of,
    folder_problem,
    kernels_built,
    next_start,
    other_layers,
    switched_off,
    vanishes,
)
from .lookups import EqualGraphs, KnownKeys, Lookup, equal_graphs

# What a run shows by itself; all else takes an earlier one to compare with.
_WRONG_IN_ANY_RUN = {"bypass", "race", "folder", "not kept", "gone", "unstable"}
Verdict = Literal["warm", "cold", "first run", "off", "nothing recorded"]
_CACHES = ("aotautograd_cache", "fx_graph_cache")


@dataclass(frozen=True)
class CacheLayer:
    """One cache: what it said, the seconds that its hits once took to make, and that its misses took now.

    The seconds are None where none was recorded.
    """

    name: str
    hits: int
    misses: int
    bypasses: int
    saved_seconds: float | None
    took_seconds: float | None


@dataclass(frozen=True)
class ExplainedLookup:
    """One look-up and why it found nothing. `compared_with` names the earlier look-up that was nearest."""

    process: str
    compile_id: str | None
    function: str | None
    cache: str
    outcome: str
    direction: Literal["forward", "backward"] | None
    detail: str | None
    key: str | None
    saved_seconds: float | None
    took_seconds: float | None
    compared_with: str | None
    causes: tuple[Cause, ...]


@dataclass(frozen=True)
class Reason:
    """The causes that compiles have in common, with what those cost. Seconds are None where not recorded."""

    sentence: str
    causes: tuple[Cause, ...]
    compiles: int
    misses: int
    bypasses: int
    lost_seconds: float | None


@dataclass(frozen=True)
class CacheFolder:
    """Where the caches were, and what is wrong with that, if anything is."""

    folder: str
    held_graphs: bool | None
    filesystem: str | None
    free_bytes: int | None
    problem: str | None
    vanishes: str | None


@dataclass(frozen=True)
class CostlyCompile:
    """A compile that took long, forward and backward together; `share` is of all compiling."""

    compile_id: str | None
    function: str | None
    seconds: float
    share: float


@dataclass(frozen=True)
class CacheReport:
    """All of it. `compared_with` are the earlier recordings whose keys were looked at.

    `next_start` are shell commands that carry the caches to another machine or container.
    """

    verdict: Verdict
    sentence: str
    hits: int
    misses: int
    bypasses: int
    lost_seconds: float | None
    saved_seconds: float | None
    reasons: tuple[Reason, ...]
    off: tuple[Off, ...]
    layers: tuple[CacheLayer, ...]
    other_layers: tuple[OtherLayer, ...]
    lookups: tuple[ExplainedLookup, ...]
    folders: tuple[CacheFolder, ...]
    costliest: tuple[CostlyCompile, ...]
    equal_graphs: tuple[EqualGraphs, ...]
    kernels: KernelBuild | None
    next_start: tuple[str, ...]
    compared_with: tuple[str, ...]


def explain_caches(target: Recording, earlier: Iterable[Recording] = ()) -> CacheReport:
    """What the caches said in `target`, whose keys are compared with those of the `earlier` recordings.

    Both are to be read with `dynamo_core.recording.caches.CACHE_KEYS`.
    """
    before = list(earlier)
    known = KnownKeys(target, before)
    explained = [(lookup, *causes_of(lookup, known)) for lookup in known.target]
    reasons = tuple(_reasons(target, [(lookup, causes) for lookup, causes, _ in explained]))
    off = tuple(each for _, each in switched_off(target))
    counts = Counter(lookup.recorded.outcome for lookup in known.target)
    lost = _total([*(reason.lost_seconds for reason in reasons), *(each.lost_seconds for each in off)])
    built = kernels_built(target)
    verdict = _verdict(counts, reasons, off, bool(before))
    return CacheReport(
        verdict,
        _sentence(verdict, counts, reasons, off, lost, built),
        counts["hit"],
        counts["miss"],
        counts["bypass"],
        lost,
        _saved(known.target),
        reasons,
        off,
        tuple(_layers(known.target)),
        tuple(other_layers(target)),
        tuple(_explained(known, *each) for each in explained),
        tuple(_folders(target)),
        tuple(_costliest(target)),
        tuple(equal_graphs(target)),
        built,
        next_start(target),
        tuple(str(recording.path) for recording in before),
    )


def _verdict(
    counts: Counter[str], reasons: tuple[Reason, ...], off: tuple[Off, ...], has_earlier: bool
) -> Verdict:
    if off:
        return "off"
    if counts["miss"] or counts["bypass"]:
        kinds = {cause.kind for reason in reasons for cause in reason.causes}
        is_first = kinds == {FIRST_RUN.kind} or not (has_earlier or kinds & _WRONG_IN_ANY_RUN)
        return "first run" if is_first else "cold"
    return "warm" if counts["hit"] else "nothing recorded"


def _sentence(
    verdict: Verdict,
    counts: Counter[str],
    reasons: tuple[Reason, ...],
    off: tuple[Off, ...],
    lost: float | None,
    built: KernelBuild | None,
) -> str:
    if verdict == "nothing recorded":
        return "No look-ups in torch's caches were recorded."
    if verdict == "warm":
        more = f"; {built.sentence}" if built is not None else ""
        return f"Nothing differs, {number(counts['hit'], 'hit')}{more}."
    found = [_found(counts["miss"], counts["bypass"])] if counts["miss"] or counts["bypass"] else []
    took = f"{seconds(lost)} of compiling" if lost is not None else "what compiling took was not recorded"
    costs = ", ".join([*found, took])
    if verdict == "first run":
        return f"{FIRST_RUN.sentence} ({costs})"
    parts = [*(each.sentence for each in off), *(reason.sentence for reason in reasons)]
    more = f"; and {number(len(parts) - 1, 'more reason')}" if len(parts) > 1 else ""
    return f"{parts[0]}{more} ({costs})"


def _found(misses: int, bypasses: int) -> str:
    parts = [number(misses, "miss", "misses")] if misses else []
    parts += [number(bypasses, "bypass", "bypasses")] if bypasses else []
    return ", ".join(parts)


def _reasons(recording: Recording, explained: list[tuple[Lookup, tuple[Cause, ...]]]) -> Iterator[Reason]:
    """By the causes of whole compiles: what AOTAutograd's key differs in, Inductor's differs in for that."""
    compiles: dict[tuple[int, CompileId | None], list[tuple[Lookup, tuple[Cause, ...]]]] = {}
    for lookup, causes in explained:
        if causes:
            compiles.setdefault((id(lookup.process), lookup.recorded.compile_id), []).append((lookup, causes))
    alike: dict[tuple[str, ...], list[list[tuple[Lookup, tuple[Cause, ...]]]]] = {}
    for lookups in compiles.values():
        causes = _causes_of_compile(lookups)
        alike.setdefault(tuple(cause.sentence for cause in causes), []).append(lookups)
    processes = {id(lookup.process): lookup.process for lookup, _ in explained}
    graphs = {key: by_compile(process.compiled_graphs) for key, process in processes.items()}
    found = []
    for group in alike.values():
        causes = _causes_of_compile(group[0])
        outcomes = Counter(lookup.recorded.outcome for lookups in group for lookup, _ in lookups)
        lost = _total([_lost(lookups, graphs) for lookups in group])
        found.append(
            Reason(_together(causes), causes, len(group), outcomes["miss"], outcomes["bypass"], lost)
        )
    # What is known to be wrong comes before what is new.
    yield from sorted(found, key=lambda each: (each.causes == (FIRST_RUN,), -(each.lost_seconds or 0.0)))


def _causes_of_compile(lookups: list[tuple[Lookup, tuple[Cause, ...]]]) -> tuple[Cause, ...]:
    for cache in _CACHES:
        causes = [causes for lookup, causes in lookups if lookup.recorded.cache == cache]
        if cache == _CACHES[0] and any(_explains_nothing(each) for each in causes):
            continue
        if causes:
            return tuple({cause.sentence: cause for each in causes[:1] for cause in each}.values())
    return lookups[0][1]


def _explains_nothing(causes: tuple[Cause, ...]) -> bool:
    return all(cause.kind in ("not recorded", "unknown") for cause in causes)


def _together(causes: tuple[Cause, ...]) -> str:
    first = causes[0]
    text = first.sentence + (f", set by {first.set_by}" if first.set_by else "")
    rest = [cause.sentence for cause in causes[1:]]
    return "; ".join([text, *rest[:2]]) + (f"; and {len(rest) - 2} more parts" if len(rest) > 2 else "")


def _lost(
    lookups: list[tuple[Lookup, tuple[Cause, ...]]], graphs: Mapping[int, ByCompile[list[Graph]]]
) -> float | None:
    """What one compile cost for want of a hit: Inductor's time, or else that of the whole backend."""
    took = [each for lookup, _ in lookups if (each := lookup.recorded.took_seconds) is not None]
    if took:
        return sum(took)
    first = lookups[0][0]
    of_compile = graphs[id(first.process)].get(first.recorded.compile_id, ())
    return _total(graph.backend_seconds for graph in of_compile)


def _total(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _saved(lookups: list[Lookup]) -> float | None:
    """What hits saved: AOTAutograd's have in them what Inductor's saved below."""
    by_cache = {
        cache: _total(lookup.recorded.saved_seconds for lookup in lookups if lookup.recorded.cache == cache)
        for cache in _CACHES
    }
    return max((value for value in by_cache.values() if value is not None), default=None)


def _layers(lookups: list[Lookup]) -> Iterator[CacheLayer]:
    for cache in dict.fromkeys(["pgo", *_CACHES, *(lookup.recorded.cache for lookup in lookups)]):
        parts = [lookup.recorded for lookup in lookups if lookup.recorded.cache == cache]
        outcomes = Counter(each.outcome for each in parts)
        if parts:
            yield CacheLayer(
                cache_name(cache),
                outcomes["hit"],
                outcomes["miss"],
                outcomes["bypass"],
                _total(each.saved_seconds for each in parts),
                _total(each.took_seconds for each in parts),
            )


def _explained(
    known: KnownKeys, lookup: Lookup, causes: tuple[Cause, ...], nearest: Lookup | None
) -> ExplainedLookup:
    recorded, key = lookup.recorded, known.key(lookup)
    backward = None if key is None else key.is_backward
    compared = None
    if nearest is not None:
        here = nearest.recording is lookup.recording
        compared = f"[{nearest.recorded.compile_id}] of {'this run' if here else nearest.recording.path}"
    return ExplainedLookup(
        lookup.process.stream.name,
        None if recorded.compile_id is None else str(recorded.compile_id),
        lookup.function,
        cache_name(recorded.cache),
        recorded.outcome,
        None if backward is None else "backward" if backward else "forward",
        recorded.detail,
        recorded.key,
        recorded.saved_seconds,
        recorded.took_seconds,
        compared,
        causes,
    )


def _folders(recording: Recording) -> Iterator[CacheFolder]:
    seen = set()
    for process in recording.processes:
        caches = caches_of(process)
        if caches is None or caches.folder in seen:
            continue
        seen.add(caches.folder)
        yield CacheFolder(
            caches.folder,
            process.caches[0].held_graphs,
            caches.filesystem,
            caches.free_bytes,
            folder_problem(caches),
            vanishes(caches),
        )


_COSTLIEST = 5


def _costliest(recording: Recording) -> Iterator[CostlyCompile]:
    took: dict[tuple[int, CompileId | None], tuple[Process, float, str | None]] = {}
    for process in recording.processes:
        for compile_ in process.compiles:
            at = id(process), compile_.compile_id
            _, so_far, name = took.get(at, (process, 0.0, None))
            took[at] = process, so_far + (compile_.seconds or 0.0), name or compile_.name
    in_all = sum(each[1] for each in took.values())
    if in_all <= 0:
        return
    ranked = sorted(took.items(), key=lambda item: -item[1][1])
    for (_, compile_id), (_, cost, name) in ranked[:_COSTLIEST]:
        yield CostlyCompile(None if compile_id is None else str(compile_id), name, cost, cost / in_all)
