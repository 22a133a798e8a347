"""Findings: graphs that none of the backends that were named took, so that they run eager."""

from collections.abc import Iterator

from ..backend_sentences import declined_because, untaken_sentence
from ..figures import Figures
from ..lasting_text import without_numbers
from .draft import Draft
from .finding import Cost, Evidence, Figure
from .remedy import remedy

_ADD_ONE = (
    "name a backend after them that accepts it (`--backend A,B,inductor`), or do what the reason says; "
    "`dynamo backends --check` shows which ones work here."
)


def not_taken(figures: Figures) -> Iterator[Draft]:
    """One for each graph."""
    for process in figures.recording.processes:
        for graph in process.graphs:
            if graph.assigned_backend is None or graph.assigned_backend.by is not None:
                continue
            spent = graph.host_seconds
            compile_ids = () if graph.compile_id is None else (str(graph.compile_id),)
            yield Draft(
                "backend declined",
                key=(graph.key or "", without_numbers(declined_because(graph))),
                title=untaken_sentence(graph, process, figures.recording),
                cause=declined_because(graph),
                processes=(process,),
                place=graph.frame_place,
                function=graph.frame_name,
                cost=Cost() if spent is None else Cost(saves_at_most=Figure(spent, "estimated")),
                evidence=Evidence(compile_ids, (graph.number,)),
                remedies=remedy("backend declined", _ADD_ONE),
            )
