"""Findings: compiling that torch's caches could have saved."""

from collections import Counter
from collections.abc import Iterable, Iterator

from ...model import CacheLookup, Graph, Process
from ..caches.bypasses import bypass_words
from ..caches.causes import caches_of, folder_problem, vanishes
from ..caches.other_layers import BUNDLE_NOT_READ, unreadable_bundles
from ..caches.switches import switched_off
from ..figures import Figures
from ..time.in_the_run import in_the_run
from ..words import cache_name, number, seconds
from .draft import WORTH_A_WORD_S, Draft
from .finding import Evidence
from .looked_up import compiled_in_vain, looked_up
from .remedy import remedy

_PLURALS = {"miss": ("miss", "misses"), "bypass": ("bypass", "bypasses")}


def cold_start(figures: Figures) -> Iterator[Draft]:
    """Look-ups in torch's caches of which none was a hit."""
    for process in figures.recording.processes:
        outcomes = Counter((lookup.cache, lookup.outcome) for lookup in process.cache_lookups)
        backend = _backend_seconds(process.compiled_graphs)
        if not outcomes or backend < WORTH_A_WORD_S or any(outcome == "hit" for _, outcome in outcomes):
            continue
        lookups = [
            f"{cache_name(cache)}: {number(count, *_PLURALS.get(outcome, (outcome,)))}"
            for (cache, outcome), count in outcomes.items()
        ]
        problem = _problem(process)
        yield Draft(
            "cold start",
            key=(),
            title=f"nothing came from torch's caches, and the backend took {seconds(backend)}",
            cause=f"look-ups in the {', '.join(lookups)}" + (f"; {problem}" if problem else ""),
            processes=(process,),
            cost=compiled_in_vain(backend),
            evidence=Evidence(times=outcomes.total()),
            remedies=remedy("cold start", _ANOTHER_FOLDER if problem else _SAME_FOLDER),
        )


_SAME_FOLDER = (
    "`dynamo cache` says why, compared with an earlier run; a second run with the same folder for "
    "`TORCHINDUCTOR_CACHE_DIR` starts warm, if nothing has changed that the keys are made of."
)
_ANOTHER_FOLDER = (
    "`TORCHINDUCTOR_CACHE_DIR` can name a folder that outlives the run; `dynamo cache` has the two commands "
    "that carry the caches to the next start."
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
    for process, off in switched_off(figures.recording):
        if off.lost_seconds is None or off.lost_seconds < WORTH_A_WORD_S:
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
    off = {id(process) for process, _ in switched_off(figures.recording)}
    for process in figures.recording.processes:
        by_reason: dict[tuple[str, str | None], list[CacheLookup]] = {}
        for lookup in process.cache_lookups:
            if lookup.outcome == "bypass" and id(process) not in off:
                by_reason.setdefault(bypass_words(lookup.reason), []).append(lookup)
        for (why, what_to_do), lookups in by_reason.items():
            found = looked_up(process, lookups)
            lost = _backend_seconds(found.graphs)
            if lost < WORTH_A_WORD_S:
                continue
            yield Draft(
                "cache bypass",
                key=(why,),
                title=f"{number(len(found.graphs), 'graph')} cannot be kept in torch's caches: {why}",
                cause=f"the {_named(lookups)} did not take it, so every run compiles it again",
                processes=(process,),
                place=found.place,
                function=found.function,
                cost=compiled_in_vain(lost),
                evidence=found.evidence,
                remedies=remedy("cache bypass", what_to_do),
            )


def compiled_by_several(figures: Figures) -> Iterator[Draft]:
    """The same graph, compiled at once by several processes of a run: all but one of them need not have."""
    by_key: dict[str, list[tuple[Process, CacheLookup]]] = {}
    for process in figures.recording.processes:
        for lookup in process.cache_lookups:
            if lookup.outcome == "miss" and lookup.took_seconds is not None and lookup.key is not None:
                by_key.setdefault(lookup.key, []).append((process, lookup))
    shared = [found for found in by_key.values() if len({id(process) for process, _ in found}) > 1]
    needless = (each for found in shared for each in sorted(found, key=_took)[:-1])
    lost = in_the_run((process, lookup.took_seconds or 0.0) for process, lookup in needless)
    if lost < WORTH_A_WORD_S:
        return
    processes = tuple({id(process): process for found in shared for process, _ in found}.values())
    cause, what_to_do = _why_each_compiled(processes)
    yield Draft(
        "cold start",
        key=("several processes",),
        title=f"{len(processes)} processes compiled the same {number(len(shared), 'graph')}, each for itself",
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
