"""The cache report of a run: the hits and misses of each layer, and the causes of each miss."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from ..analysis.summary import ByCompile, by_compile
from ..analysis.words import cache_name, number, seconds
from ..model import Compile, CompileId, Graph, Recording
from ..shared.conversion import from_fields
from ..shared.quick_dataclass import dataclass
from .causes import (
    FIRST_RUN,
    Cause,
    DisabledCache,
    KernelBuild,
    OtherLayer,
    caches_of,
    causes_of,
    disabled_caches,
    folder_problem,
    kernels_built,
    next_start,
    other_layers,
    total,
    vanishes,
)
from .lookups import EqualGraphs, KnownKeys, Lookup, equal_graphs

# Kinds of causes that one run shows by itself; for all others an earlier run is needed.
_WRONG_IN_ANY_RUN = {"bypass", "race", "folder", "not kept", "gone", "unstable"}
Verdict = Literal["warm", "cold", "first run", "off", "nothing recorded"]
_CACHES = ("aotautograd_cache", "fx_graph_cache")
_Explained = list[tuple[Lookup, tuple[Cause, ...]]]  # look-ups with their causes


@dataclass(frozen=True)
class CacheLayer:
    """The outcomes of one cache.

    `saved_seconds` is what its hits took to compile earlier, `took_seconds` what its misses took now; both
    are None where not recorded.
    """

    name: str
    hits: int
    misses: int
    bypasses: int
    saved_seconds: float | None
    took_seconds: float | None


@dataclass(frozen=True)
class ExplainedLookup:
    """One look-up and the causes if it was no hit. `compared_with` names the nearest earlier look-up."""

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
    method: str | None = None


@dataclass(frozen=True)
class Reason:
    """Causes with the compiles that have all of them in common. Seconds are None where not recorded."""

    sentence: str
    causes: tuple[Cause, ...]
    compiles: int
    misses: int
    bypasses: int
    lost_seconds: float | None


@dataclass(frozen=True)
class CacheFolder:
    """A cache folder. `problem` says what is wrong with it, `vanishes` why it may be gone in the next run."""

    folder: str
    held_graphs: bool | None
    filesystem: str | None
    free_bytes: int | None
    problem: str | None
    vanishes: str | None


@dataclass(frozen=True)
class CostlyCompile:
    """A compile that took long, forward and backward together; `share` is of the whole compile time."""

    compile_id: str | None
    function: str | None
    seconds: float
    share: float
    method: str | None = None


@dataclass(frozen=True)
class CacheReport:
    """The cache report of a recording. `compared_with` are the earlier recordings whose keys were compared.

    `next_start` are shell commands that copy the caches to another machine or container.
    """

    verdict: Verdict
    sentence: str
    hits: int
    misses: int
    bypasses: int
    lost_seconds: float | None
    saved_seconds: float | None
    reasons: tuple[Reason, ...]
    off: tuple[DisabledCache, ...]
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
    """The cache report of `target`, whose keys are compared with those of the `earlier` recordings.

    All recordings have to be read with `dynamo_core.recording.caches.CACHE_KEYS`.
    """
    before = list(earlier)
    known = KnownKeys(target, before)
    explained = [(lookup, *causes_of(lookup, known)) for lookup in known.target]
    reasons = tuple(_reasons(target, [(lookup, causes) for lookup, causes, _ in explained]))
    off = tuple(cache for _, cache in disabled_caches(target))
    counts = Counter(lookup.recorded.outcome for lookup in known.target)
    lost = total([*(reason.lost_seconds for reason in reasons), *(each.lost_seconds for each in off)])
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
    counts: Counter[str], reasons: tuple[Reason, ...], off: tuple[DisabledCache, ...], has_earlier: bool
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
    off: tuple[DisabledCache, ...],
    lost: float | None,
    built: KernelBuild | None,
) -> str:
    if verdict == "nothing recorded":
        return "No look-ups in torch's caches were recorded."
    if verdict == "warm":
        more = f"; {built.sentence}" if built is not None else ""
        return f"Nothing differs, {number(counts['hit'], 'hit')}{more}."
    found = [_miss_counts(counts["miss"], counts["bypass"])] if counts["miss"] or counts["bypass"] else []
    took = f"{seconds(lost)} of compiling" if lost is not None else "what compiling took was not recorded"
    costs = ", ".join([*found, took])
    if verdict == "first run":
        return f"{FIRST_RUN.sentence} ({costs})"
    parts = [*(each.sentence for each in off), *(reason.sentence for reason in reasons)]
    more = f"; and {number(len(parts) - 1, 'more reason')}" if len(parts) > 1 else ""
    return f"{parts[0]}{more} ({costs})"


def _miss_counts(misses: int, bypasses: int) -> str:
    parts = [number(misses, "miss", "misses")] if misses else []
    parts += [number(bypasses, "bypass", "bypasses")] if bypasses else []
    return ", ".join(parts)


def _reasons(recording: Recording, explained: _Explained) -> Iterator[Reason]:
    """The compiles grouped by causes: a difference in AOTAutograd's key also explains Inductor's miss."""
    compiles: dict[tuple[int, CompileId | None], _Explained] = {}
    for lookup, causes in explained:
        if causes:
            compiles.setdefault((id(lookup.process), lookup.recorded.compile_id), []).append((lookup, causes))
    groups: dict[tuple[str, ...], list[_Explained]] = {}
    for lookups in compiles.values():
        causes = _causes_of_compile(lookups)
        groups.setdefault(tuple(cause.sentence for cause in causes), []).append(lookups)
    processes = {id(lookup.process): lookup.process for lookup, _ in explained}
    graphs = {key: by_compile(process.compiled_graphs) for key, process in processes.items()}
    found = []
    for group in groups.values():
        causes = _causes_of_compile(group[0])
        outcomes = Counter(lookup.recorded.outcome for lookups in group for lookup, _ in lookups)
        lost = total([_lost_seconds(lookups, graphs) for lookups in group])
        found.append(
            Reason(_reason_sentence(causes), causes, len(group), outcomes["miss"], outcomes["bypass"], lost)
        )
    # What is known to be wrong comes before what is new.
    yield from sorted(found, key=lambda each: (each.causes == (FIRST_RUN,), -(each.lost_seconds or 0.0)))


def _causes_of_compile(lookups: _Explained) -> tuple[Cause, ...]:
    for cache in _CACHES:
        causes = [causes for lookup, causes in lookups if lookup.recorded.cache == cache]
        if cache == _CACHES[0] and any(_explains_nothing(each) for each in causes):
            continue
        if causes:
            return tuple({cause.sentence: cause for each in causes[:1] for cause in each}.values())
    return lookups[0][1]


def _explains_nothing(causes: tuple[Cause, ...]) -> bool:
    return all(cause.kind in ("not recorded", "unknown") for cause in causes)


def _reason_sentence(causes: tuple[Cause, ...]) -> str:
    first = causes[0]
    text = first.sentence + (f", set by {first.set_by}" if first.set_by else "")
    rest = [cause.sentence for cause in causes[1:]]
    return "; ".join([text, *rest[:2]]) + (f"; and {len(rest) - 2} more parts" if len(rest) > 2 else "")


def _lost_seconds(lookups: _Explained, graphs: Mapping[int, ByCompile[list[Graph]]]) -> float | None:
    """The seconds that one compile cost because there was no hit: Inductor's, or else the whole backend's."""
    took = [each for lookup, _ in lookups if (each := lookup.recorded.took_seconds) is not None]
    if took:
        return sum(took)
    first = lookups[0][0]
    compiled = graphs[id(first.process)].get(first.recorded.compile_id, ())
    return total(graph.backend_seconds for graph in compiled)


def _saved(lookups: list[Lookup]) -> float | None:
    """The seconds that hits saved; the maximum, as AOTAutograd's seconds include Inductor's."""
    by_cache = {
        cache: total(lookup.recorded.saved_seconds for lookup in lookups if lookup.recorded.cache == cache)
        for cache in _CACHES
    }
    return max((value for value in by_cache.values() if value is not None), default=None)


def _layers(lookups: list[Lookup]) -> Iterator[CacheLayer]:
    for cache in dict.fromkeys(["pgo", *_CACHES, *(lookup.recorded.cache for lookup in lookups)]):
        recorded = [lookup.recorded for lookup in lookups if lookup.recorded.cache == cache]
        outcomes = Counter(each.outcome for each in recorded)
        if recorded:
            yield CacheLayer(
                cache_name(cache),
                outcomes["hit"],
                outcomes["miss"],
                outcomes["bypass"],
                total(each.saved_seconds for each in recorded),
                total(each.took_seconds for each in recorded),
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
    return from_fields(
        ExplainedLookup,
        recorded,
        process=lookup.process.stream.name,
        compile_id=None if recorded.compile_id is None else str(recorded.compile_id),
        function=lookup.frame.function,
        cache=cache_name(recorded.cache),
        direction=None if backward is None else "backward" if backward else "forward",
        compared_with=compared,
        causes=causes,
        method=lookup.frame.method,
    )


def _folders(recording: Recording) -> Iterator[CacheFolder]:
    seen = set()
    for process in recording.processes:
        caches = caches_of(process)
        if caches is None or caches.folder in seen:
            continue
        seen.add(caches.folder)
        yield from_fields(
            CacheFolder,
            caches,
            held_graphs=process.caching.in_use[0].held_graphs,
            problem=folder_problem(caches),
            vanishes=vanishes(caches),
        )


_COSTLIEST = 5


def _costliest(recording: Recording) -> Iterator[CostlyCompile]:
    took: dict[tuple[int, CompileId | None], list[Compile]] = {}
    for process in recording.processes:
        for compile_ in process.compiles:
            took.setdefault((id(process), compile_.compile_id), []).append(compile_)
    costs = {key: sum(each.seconds or 0.0 for each in compiles) for key, compiles in took.items()}
    in_all = sum(costs.values())
    if in_all <= 0:
        return
    for key, cost in sorted(costs.items(), key=lambda item: -item[1])[:_COSTLIEST]:
        compile_id, name = key[1], next((each.name for each in took[key] if each.name), None)
        method = next((each.method for each in took[key] if each.method), None)
        label = None if compile_id is None else str(compile_id)
        yield CostlyCompile(label, name, cost, cost / in_all, method)
