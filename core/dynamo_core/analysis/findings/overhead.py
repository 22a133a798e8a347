"""Findings: what is paid for each call of a compiled graph, whatever it does."""

from collections.abc import Iterator

from ..figures import Figures
from ..time.wall import GUARDS
from ..words import number, seconds
from .draft import WORTH_A_WORD_S, Draft
from .finding import Cost, Evidence, Figure
from .remedy import remedy

_MUCH = 0.1  # of the time that it is compared with
_WORTH_A_WORD = 1000  # calls, of some 10 us; a short run of a long program has as many
_OVERHEAD_S = 10e-6  # of one call of a compiled graph, about (benchmarks/call_cost.py)


def overhead_bound_graphs(figures: Figures) -> Iterator[Draft]:
    """Graphs that are called often for so little that calling them costs as much as what they do."""
    for process in figures.recording.processes:
        small = [each for each in figures.graph_times_of(process) if each.is_overhead_bound]
        calls = sum(each.times.calls for each in small)
        if calls < _WORTH_A_WORD:
            continue
        spent = sum(each.seconds for each in small)
        yield Draft(
            "overhead-bound graphs",
            key=(),
            title=f"{number(len(small), 'graph is', 'graphs are')} overhead-bound: {calls:,} calls "
            f"took {seconds(spent)}",
            cause="calling a compiled graph, and checking its guards, takes longer than what the graph does",
            processes=(process,),
            cost=Cost(saves_at_most=Figure(min(spent, calls * _OVERHEAD_S), "estimated")),
            evidence=Evidence(graphs=tuple(each.graph.number for each in small), times=calls),
            remedies=remedy(
                "overhead-bound graphs",
                "compile what calls them instead, so that they become one graph; resolve the breaks between "
                'them; on a GPU, `torch.compile(..., mode="reduce-overhead")` has CUDA graphs.',
            ),
        )


def costly_guards(figures: Figures) -> Iterator[Draft]:
    """Guards that take much of the run."""
    for process in figures.recording.processes:
        wall = figures.wall(process)
        part = None if wall is None else wall.part(GUARDS)
        if wall is None or part is None or (part.seconds or 0.0) < max(_MUCH * wall.seconds, WORTH_A_WORD_S):
            continue
        took = part.seconds or 0.0
        yield Draft(
            "costly guards",
            key=(),
            title=f"guards take {seconds(took)}",
            cause=f"what is checked before each call takes {took / wall.seconds:.0%} of the run",
            processes=(process,),
            cost=Cost(Figure(took, "sampled"), saves_at_most=Figure(took, "sampled")),
            remedies=remedy(
                "costly guards", "`dynamo guards` lists what is checked, by the line that asks for it."
            ),
        )
