"""Findings: compiling that torch's caches could have saved."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ..analysis.figures import Figures
from ..analysis.time.wall import across_ranks
from ..analysis.words import cache_name, number, place, seconds
from ..caches.bypasses import bypass_words
from ..caches.causes import (
    BUNDLE_NOT_READ,
    caches_of,
    disabled_caches,
    folder_problem,
    unreadable_bundles,
    vanishes,
)
from ..caches.keys import PartDifference, differences, key_of_lines
from ..model import CacheLookup, Graph, Place, Process
from ..shared.quick_dataclass import dataclass
from .build import remedy
from .finding import WORTH_A_WORD_S, Cost, Draft, Evidence, Figure

# What findings on torch's caches have in common: look-ups, the graphs that they were for, and their cost.


@dataclass(frozen=True)
class CacheMissCost:
    """Look-ups of a process, and the graphs that they were for."""

    lookups: Sequence[CacheLookup]
    graphs: Sequence[Graph]

    @property
    def place(self) -> Place | None:
        """Where the frame of the first graph begins."""
        return self.graphs[0].frame_place if self.graphs else None

    @property
    def function(self) -> str | None:
        """The function of the first graph."""
        return self.graphs[0].frame_name if self.graphs else None

    @property
    def evidence(self) -> Evidence:
        """What a finding on them rests on."""
        return Evidence(
            compile_ids=tuple(dict.fromkeys(str(lookup.compile_id) for lookup in self.lookups)),
            graphs=tuple(graph.number for graph in self.graphs),
            records=tuple(dict.fromkeys(lookup.reason for lookup in self.lookups if lookup.reason)),
            times=len(self.lookups),
        )


def cache_miss_cost(process: Process, lookups: Sequence[CacheLookup]) -> CacheMissCost:
    """The look-ups with their graphs, in the order in which they were compiled."""
    ids = {lookup.compile_id for lookup in lookups}
    return CacheMissCost(lookups, [graph for graph in process.compiled_graphs if graph.compile_id in ids])


def compiled_in_vain(seconds: float) -> Cost:
    """The cost of compiling what a cache could have had: as much can be saved at most."""
    return Cost(Figure(seconds, "measured"), saves_at_most=Figure(seconds, "estimated"))


# Findings:


_PLURALS = {"miss": ("miss", "misses"), "bypass": ("bypass", "bypasses")}


def cold_start(figures: Figures) -> Iterator[Draft]:
    """Look-ups in torch's caches of which none was a hit."""
    for process in figures.recording.processes:
        outcomes = Counter((lookup.cache, lookup.outcome) for lookup in process.caching.lookups)
        if not outcomes or any(outcome == "hit" for _, outcome in outcomes):
            continue
        lookups = [
            f"{cache_name(cache)}: {number(count, *_PLURALS.get(outcome, (outcome,)))}"
            for (cache, outcome), count in outcomes.items()
        ]
        problem = _problem(process)
        took, cost = "", Cost()
        if any(graph.backend_seconds is not None for graph in process.compiled_graphs):
            backend = _backend_seconds(process.compiled_graphs)
            took, cost = f", and the backend took {seconds(backend)}", compiled_in_vain(backend)
        yield Draft(
            "cold start",
            key=(),
            title=f"nothing came from torch's caches{took}",
            cause=f"look-ups in the {', '.join(lookups)}" + (f"; {problem}" if problem else ""),
            processes=(process,),
            cost=cost,
            evidence=Evidence(times=outcomes.total()),
            remedies=remedy("cold start", _ANOTHER_FOLDER if problem else _SAME_FOLDER),
        )


_SAME_FOLDER = (
    "`dynamo cache` says why, compared with an earlier run; a second run with the same folder for "
    "`TORCHINDUCTOR_CACHE_DIR` starts warm, if nothing has changed that the keys are made of."
)
_ANOTHER_FOLDER = (
    "`TORCHINDUCTOR_CACHE_DIR` can name a folder that outlives the run; `dynamo cache` has the two commands "
    "that copy the caches to the next start."
)


def _problem(process: Process) -> str | None:
    if unreadable_bundles(process):
        return BUNDLE_NOT_READ
    caches = caches_of(process)
    problem, passing = folder_problem(caches), vanishes(caches)
    if problem is None and passing is not None and caches is not None:
        return f"{caches.folder} is {passing}"
    return problem


def caches_off(figures: Figures) -> Iterator[Draft]:
    """A cache that was switched off while something was compiled without it."""
    for process, off in disabled_caches(figures.recording):
        if off.lost_seconds is None:
            continue
        yield Draft(
            "caches off",
            key=(off.setting,),
            title=f"{off.sentence}, and the backend took {seconds(off.lost_seconds)}",
            cause="what was compiled is not kept, and every run compiles it again",
            processes=(process,),
            cost=compiled_in_vain(off.lost_seconds),
            evidence=Evidence(times=off.compiles),
            remedies=remedy("caches off", off.what_to_do),
        )


def cache_bypasses(figures: Figures) -> Iterator[Draft]:
    """Graphs that a cache did not take, by why: every run compiles them again."""
    off = {id(process) for process, _ in disabled_caches(figures.recording)}
    for process in figures.recording.processes:
        by_reason: dict[tuple[str, str | None], list[CacheLookup]] = {}
        for lookup in process.caching.lookups:
            if lookup.outcome == "bypass" and id(process) not in off:
                by_reason.setdefault(bypass_words(lookup), []).append(lookup)
        for (why, what_to_do), lookups in by_reason.items():
            found = cache_miss_cost(process, lookups)
            lost = _backend_seconds(found.graphs)
            if lost < WORTH_A_WORD_S:
                continue
            at = next((lookup.bypassed_at for lookup in lookups if lookup.bypassed_at is not None), None)
            where = "" if at is None else f" at {place(at.place)}"
            yield Draft(
                "cache bypass",
                key=(why,),
                title=f"{number(len(found.graphs), 'graph')} cannot be kept in torch's caches{where}: {why}",
                cause=f"the {_named(lookups)} did not take it, so every run compiles it again",
                processes=(process,),
                place=found.place if at is None else at.place,
                function=found.function,
                source="" if at is None else at.text,
                cost=compiled_in_vain(lost),
                evidence=found.evidence,
                remedies=remedy("cache bypass", what_to_do),
            )


def compiled_by_several(figures: Figures) -> Iterator[Draft]:
    """Graphs that several processes of a run compiled at the same time: all but one need not have."""
    by_key: dict[str, list[tuple[Process, CacheLookup]]] = {}
    for process in figures.recording.processes:
        for lookup in process.caching.lookups:
            if lookup.outcome == "miss" and lookup.took_seconds is not None and lookup.key is not None:
                by_key.setdefault(lookup.key, []).append((process, lookup))
    shared = [found for found in by_key.values() if len({id(process) for process, _ in found}) > 1]
    needless = (each for found in shared for each in sorted(found, key=_took)[:-1])
    lost = across_ranks((process, lookup.took_seconds or 0.0) for process, lookup in needless)
    if lost < WORTH_A_WORD_S:
        return
    processes = tuple({id(process): process for found in shared for process, _ in found}.values())
    cause, what_to_do = _why_each_compiled(processes)
    graphs = len({found[0][1].compile_id for found in shared})  # a backward has a look-up of its own
    yield Draft(
        "cold start",
        key=("several processes",),
        title=f"{len(processes)} processes compiled the same {number(graphs, 'graph')}, each for itself",
        cause=cause,
        processes=processes,
        cost=compiled_in_vain(lost),
        evidence=Evidence(times=sum(map(len, shared))),
        remedies=remedy("cold start", what_to_do),
    )


def _why_each_compiled(processes: tuple[Process, ...]) -> tuple[str, str]:
    """Why none found what another had compiled, and what to do."""
    caches = [found for process in processes if (found := caches_of(process)) is not None]
    problem = next((problem for each in caches if (problem := folder_problem(each)) is not None), None)
    if problem is not None:
        return problem, _ANOTHER_FOLDER
    if len({each.folder for each in caches}) > 1:
        return "each has a cache folder of its own", _ONE_FOLDER
    return "each looked in the cache before another had stored the graph there", _ONE_FIRST


_ONE_FOLDER = "let `TORCHINDUCTOR_CACHE_DIR` name one folder for all, which one process fills first."
_ONE_FIRST = "fill the cache folder with a run of one process first: ranks that start later find all of it."


def _took(found: tuple[Process, CacheLookup]) -> float:
    return found[1].took_seconds or 0.0


def _backend_seconds(graphs: Iterable[Graph]) -> float:
    return sum(graph.backend_seconds or 0.0 for graph in graphs)


def _named(lookups: list[CacheLookup]) -> str:
    return " and the ".join(dict.fromkeys(cache_name(lookup.cache) for lookup in lookups))


# Finding: a graph compiled again since its cache key differs in an address, a time or a random id alone.


_WHAT_TO_DO = (
    "make that part of what it does, not of the object: a custom pass's `uuid()` can return "
    "`torch._inductor.custom_graph_pass.get_hash_for_files((__file__,))`; with such a key nothing is ever "
    "found again, in this run or the next."
)


def unstable_keys(figures: Figures) -> Iterator[Draft]:
    """Graphs that a process compiled again because their key is made of something that is never the same."""
    for process in figures.recording.processes:
        # Of all that it compiled: the second time may be short, since kernels have a cache of their own, but
        # the next start is as cold as the first.
        if sum(lookup.took_seconds or 0.0 for lookup in process.caching.lookups) < WORTH_A_WORD_S:
            continue
        by_part: dict[str, list[tuple[CacheLookup, PartDifference]]] = {}
        for lookup in process.caching.lookups:
            for found in _all_unstable(lookup)[:1]:
                by_part.setdefault(found.part, []).append((lookup, found))
        for part, repeated in by_part.items():
            took = sum(lookup.took_seconds or 0.0 for lookup, _ in repeated)
            yield _draft(process, part, repeated, took)


def _all_unstable(lookup: CacheLookup) -> tuple[PartDifference, ...]:
    """What the key differs in from the graph's last one, if nothing else than what passes is in it."""
    before, after = (key_of_lines(pair[side] for pair in lookup.differing_parts) for side in (0, 1))
    found = differences(before.differing(after))
    return found if all(each.kind == "unstable" for each in found) else ()


def _draft(
    process: Process, part: str, repeated: list[tuple[CacheLookup, PartDifference]], took: float
) -> Draft:
    found = cache_miss_cost(process, [lookup for lookup, _ in repeated])
    again = number(len(repeated), "graph was", "graphs were")
    return Draft(
        "unstable key",
        key=(part,),
        title=f"{again} compiled again though the process had compiled the same before, {seconds(took)}",
        cause=f"{repeated[0][1].sentence}; a later start does not find them either",
        processes=(process,),
        place=found.place,
        function=found.function,
        cost=compiled_in_vain(took),
        evidence=found.evidence,
        remedies=remedy("unstable key", _WHAT_TO_DO),
    )
