"""What a call of each graph takes with each backend, measured on the compiled callables: the page."""

from collections.abc import Iterator, Sequence

from dynamo_core.analysis.words import frame_name, place, seconds
from dynamo_core.bench.graph_times import GraphTimes
from dynamo_core.tuned.measurement import AGREES, Measurement

from ..page.blocks import Block, Bullets, Column, Heading, Paragraph, Table


def graph_times_blocks(graphs: Sequence[GraphTimes]) -> Iterator[Block]:
    """A row a graph, a column a backend."""
    yield Heading("Graph by graph")
    backends = list(dict.fromkeys(name for graph in graphs for name in graph.measurements))
    if backends:
        trains = any(each.backward_seconds for graph in graphs for each in graph.measurements.values())
        yield Paragraph(
            "What a call of the compiled graph itself takes, on made-up inputs of the recorded shapes"
            + (", its backward included." if trains else "."),
            "dim",
        )
        columns = [Column("graph", True), Column("calls", True), *(Column(name, True) for name in backends)]
        measured = [graph for graph in graphs if graph.measurements]
        yield Table(
            [*columns, Column("fastest"), Column("from")], [_row(graph, backends) for graph in measured]
        )
    problems = [f"graph {graph.number}: {graph.problem}" for graph in graphs if graph.problem is not None]
    problems += [
        f"graph {graph.number}, {name} {each.verdict}: {each.reason}"
        for graph in graphs
        for name, each in graph.measurements.items()
        if each.verdict != AGREES
    ]
    yield Bullets(problems or ([] if graphs else ["no graph was compiled"]), "warning")


def _row(graph: GraphTimes, backends: Sequence[str]) -> list[str]:
    return [
        str(graph.number),
        "not recorded" if graph.calls is None else f"{graph.calls:,}",
        *(_cell(graph.measurements.get(name)) for name in backends),
        graph.fastest or "undecided",
        f"{frame_name(graph.frame)} {place(graph.place)}",
    ]


def _cell(measurement: Measurement | None) -> str:
    if measurement is None:
        return ""
    return seconds(measurement.seconds) if measurement.verdict == AGREES else measurement.verdict
