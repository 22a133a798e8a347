"""Which operations the graphs hold, how many of each, and how often they ran."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from typing import Annotated

from dynamo_core.analysis.graphs.nodes import place_in
from dynamo_core.analysis.training import pairs_of
from dynamo_core.analysis.words import compile_label, count_text, number, process_title
from dynamo_core.case import Case
from dynamo_core.model import CompileId, Graph, Node, Place, Process, Recording
from dynamo_core.recording.training import AOT_PAIRS_FROM_TEXT
from dynamo_core.shared import names
from dynamo_core.shared.conversion import from_fields
from dynamo_core.shared.declared import At
from dynamo_core.shared.quick_dataclass import dataclass

from .page.blocks import Block, Heading, Paragraph, bar, rest, table
from .parts.sections import graphs_missing, no_graphs
from .parts.training import operators_page
from .parts.training_document import PairOperators, operators_of
from .report import Detail, Report

_ROWS_SHOWN = 20


def report(*, show_all: bool = False, aot: bool = False) -> Report[Case]:
    """The report of `dynamo ops`; with `show_all`, every kind of op.

    With `aot`, of the operators in AOTAutograd's forward and backward graphs instead of Dynamo's ops.
    """
    return Report(
        "ops",
        lambda case: (operators_page if aot else _page)(case.recording, show_all),
        lambda case: _body(case.recording),
        frozenset({names.FX_GRAPH, AOT_PAIRS_FROM_TEXT}),
    )


@dataclass(frozen=True)
class OpCount:
    """One kind of op: how many nodes of it there are, and how often they ran."""

    name: Annotated[str, "qualified: torch.abs, operator.add, Tensor.sum"]
    count: Annotated[int, "nodes"]
    executed: Annotated[int | None, "nodes times calls of their graphs"]


@dataclass(frozen=True)
class GraphOps:
    """The ops of one graph."""

    process: Process
    number: Annotated[int, "from 1 in each process"]
    compile_id: CompileId | None
    frame: Annotated[str | None, At("frame_name")]
    place: Annotated[Place | None, At("frame_place")]
    op_count: Annotated[int | None, At("ops"), "call_* nodes"]
    calls: int | None
    ops: Annotated[list[OpCount] | None, "null in a plain torch trace"]
    training: Annotated[list[PairOperators] | None, "of its forward and backward graphs, where there are any"]


@dataclass(frozen=True)
class OpsBody:
    """Which operations the graphs hold, how many of each, and how often they ran."""

    total: Annotated[list[OpCount] | None, "of all graphs whose ops are known by name; null if none is"]
    graphs: list[GraphOps]


def count_ops(graph: Graph) -> Counter[str]:
    """Calls in the graph, by qualified name; methods of tensors as `Tensor.sum`."""
    nodes = graph.nodes or ()
    tensors = {node.name for node in nodes if node.tensors}
    return Counter(_qualified_name(node, tensors) for node in nodes if node.op.startswith("call_"))


def _qualified_name(node: Node, tensors: Container[str]) -> str:
    if node.op != "call_method":
        return node.target
    owner = "Tensor" if node.inputs and node.inputs[0] in tensors else ""
    return f"{owner}.{node.target}"


def op_counts(graphs: Iterable[Graph]) -> list[OpCount]:
    """The ops of all `graphs` together, the most often executed first. A graph runs all ops in each call."""
    counts: Counter[str] = Counter()
    executed: dict[str, int | None] = {}
    for graph in graphs:
        for name, count in count_ops(graph).items():
            counts[name] += count
            before = executed.get(name, 0)
            executed[name] = None if graph.calls is None or before is None else before + count * graph.calls
    rows = [OpCount(name, count, executed[name]) for name, count in counts.items()]
    return sorted(rows, key=lambda row: (-(row.executed or 0), -row.count, row.name))


def ops_blocks(graph: Graph, detail: Detail) -> list[Block]:
    """The op counts of one graph, most frequent first; ten of them unless MORE is asked for."""
    counts = op_counts([graph])
    title = (
        f"ops of graph {graph.number} {compile_label(graph.compile_id)} "
        f"{number(graph.ops, 'op')} of {number(len(counts), 'kind')}"
    )
    blocks: list[Block] = [Heading(title, 3)]
    if detail is Detail.LESS or not counts:
        return blocks
    shown = counts if detail is Detail.MORE else counts[:10]
    blocks.append(table("count>|op", [[str(row.count), row.name] for row in shown]))
    rest = len(counts) - len(shown)
    if rest:
        blocks.append(Paragraph(f"… and {number(rest, 'more kind')}; ++ops shows all", "dim"))
    return blocks


def _page(recording: Recording, show_all: bool) -> Iterator[Block]:
    graphs = _graphs(recording)
    if not graphs:
        yield Heading(no_graphs(recording, "No graph was compiled."), 1)
        return
    ops = [graph.ops for graph in graphs]
    total = None if None in ops else sum(filter(None, ops))
    yield Heading(f"{number(total, 'op')} in {number(len(graphs), 'graph')}", 1)
    yield from graphs_missing(recording.processes)
    named = [graph for graph in graphs if graph.nodes is not None]
    if not named:
        yield Paragraph(
            "Their names were not recorded: this is a plain torch trace, which only counts them. "
            "`dynamo run` records them."
        )
    else:
        yield Heading("All graphs")
        inherited = sum(process.inherited_calls for process in recording.processes)
        if inherited:
            yield Paragraph(f"{number(inherited, 'call')} in forked processes are not in it.", "dim")
        yield from _counts(op_counts(named), show_all)
    for process in recording.processes:
        for graph in process.compiled_graphs:
            calls = number(graph.calls, "call")
            where = place_in(graph)
            yield Heading(
                f"Graph {graph.number} {compile_label(graph.compile_id)}{process_title(process, recording)}: "
                f"{number(graph.ops, 'op')}, {calls}, from {where}"
            )
            if graph.nodes is not None:
                yield from _counts(op_counts([graph]), show_all)


def _counts(rows: list[OpCount], show_all: bool) -> Iterator[Block]:
    shown = rows if show_all else rows[:_ROWS_SHOWN]
    most = max((row.executed or 0 for row in rows), default=0)
    cells = [
        [str(row.count), count_text(row.executed), row.name, bar(row.executed or 0, most)] for row in shown
    ]
    yield table("count>|executed>|op|", cells)
    yield from rest(len(rows) - len(shown), "kind", ": --all shows them.")


def _graphs(recording: Recording) -> list[Graph]:
    return [graph for process in recording.processes for graph in process.compiled_graphs]


def _body(recording: Recording) -> OpsBody:
    named = [graph for graph in _graphs(recording) if graph.nodes is not None]
    return OpsBody(
        total=op_counts(named) if named else None,
        graphs=[
            from_fields(
                GraphOps,
                graph,
                process=process,
                ops=op_counts([graph]) if graph.nodes is not None else None,
                training=_training(graph, process),
            )
            for process in recording.processes
            for graph in process.compiled_graphs
        ],
    )


def _training(graph: Graph, process: Process) -> list[PairOperators] | None:
    pairs = pairs_of(graph, process)
    return None if pairs is None else [operators_of(pair) for pair in pairs]
