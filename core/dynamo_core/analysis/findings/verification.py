"""Findings: graphs that computed something else than eager, of a run with --verify."""

from collections.abc import Iterator

from ..figures import Figures
from ..verification import verification
from ..verification_sentences import graph_text, node_text, off_text
from .draft import Draft
from .finding import Evidence
from .remedy import remedy

_REPORT_IT = (
    "`dynamo run --verify --override backend=aot_eager …` shows whether it is the backend, with your program "
    "in place of `…`; `dynamo graphs --runnable N` writes the graph as a script, to report a backend of "
    "torch's."
)


def wrong_results(figures: Figures) -> Iterator[Draft]:
    """One for each graph that disagrees."""
    found = verification(figures.recording)
    for each in [] if found is None else found.wrong:
        call, graph = each.wrong_call, each.graph
        assert call is not None
        node = call.node
        by = "" if graph.backend is None else f", as backend {graph.backend} computes it,"
        yield Draft(
            "wrong result",
            key=(graph.key or "", node.target if node is not None else ""),
            title=f"{graph_text(each, figures.recording)}{by} disagrees with eager",
            cause=f"call {call.call}, {off_text(call.first_wrong)}",
            effect="" if node is None else f"first wrong node: {node_text(node)}",
            processes=(each.process,),
            place=(node.place if node is not None else None) or graph.frame_place,
            function=graph.frame_name,
            evidence=Evidence(() if graph.compile_id is None else (str(graph.compile_id),), (graph.number,)),
            remedies=remedy("wrong result", _REPORT_IT),
        )
