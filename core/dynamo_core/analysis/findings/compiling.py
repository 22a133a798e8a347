"""Findings: compiling that costs more than it can bring back, or that a cache could have saved."""

from collections import Counter
from collections.abc import Iterator

from ..figures import Figures
from ..words import cache_name, number, seconds
from .draft import Draft
from .finding import Cost, Evidence, Figure
from .remedy import remedy

_WORTH_A_WORD_S = 1.0  # what took less is no reason to change a program
_PLURALS = {"miss": ("miss", "misses"), "bypass": ("bypass", "bypasses")}


def never_pays_back(figures: Figures) -> Iterator[Draft]:
    """Compiling that took so much longer than the graphs ran that they can hardly have made up for it."""
    for process in figures.recording.processes:
        compiling = sum(compile_.seconds or 0.0 for compile_ in process.compiles)
        inside = sum(each.seconds for each in figures.graph_times_of(process))
        if compiling < _WORTH_A_WORD_S or inside <= 0 or compiling < 2 * inside:
            continue
        times = 1 + compiling / inside
        yield Draft(
            "never pays back",
            key=(),
            title=f"compiling took {seconds(compiling)}, the compiled graphs ran {seconds(inside)} in all",
            cause=f"it pays back in this run only if they are more than {times:,.0f} times as fast as eager",
            processes=(process,),
            cost=Cost(Figure(compiling, "measured"), saves_at_most=Figure(compiling, "estimated")),
            remedies=remedy(
                "never pays back",
                "in a run as short as this one, compile less: the part that is called most, or nothing; in a "
                "longer run it may pay. `dynamo bench` measures after how many steps.",
            ),
        )


def cold_start(figures: Figures) -> Iterator[Draft]:
    """Look-ups in torch's caches of which none was a hit."""
    for process in figures.recording.processes:
        outcomes = Counter((lookup.cache, lookup.outcome) for lookup in process.cache_lookups)
        backend = sum(graph.backend_seconds or 0.0 for graph in process.compiled_graphs)
        if not outcomes or backend < _WORTH_A_WORD_S or any(outcome == "hit" for _, outcome in outcomes):
            continue
        lookups = [
            f"{cache_name(cache)}: {number(count, *_PLURALS.get(outcome, (outcome,)))}"
            for (cache, outcome), count in outcomes.items()
        ]
        yield Draft(
            "cold start",
            key=(),
            title=f"nothing came from torch's caches, and the backend took {seconds(backend)}",
            cause=f"look-ups in the {', '.join(lookups)}",
            processes=(process,),
            cost=Cost(Figure(backend, "measured"), saves_at_most=Figure(backend, "estimated")),
            evidence=Evidence(times=outcomes.total()),
            remedies=remedy(
                "cold start",
                "a second run with the same folder for `TORCHINDUCTOR_CACHE_DIR` starts warm, if nothing has "
                "changed that the keys are made of.",
            ),
        )
