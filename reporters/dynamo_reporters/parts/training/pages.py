"""The pages of `graphs --training` and `ops --aot`."""

from collections import Counter
from collections.abc import Iterator, Sequence

from dynamo_core.analysis.graphs.node_text import module_path, place_in
from dynamo_core.analysis.not_recorded import probe_failed, were_not_recorded
from dynamo_core.analysis.training_pairs import ops_of, pairs_of, saved_by
from dynamo_core.analysis.words import compile_label, number, process_title
from dynamo_core.model import AotPair, Graph, Recording, TensorInfo
from dynamo_core.shared.aot_pair import INPUT

from ...page.bar import bar
from ...page.blocks import Block, Heading, Paragraph, Table, table
from ..unrecorded import no_graphs
from .words import pairs_facts, recomputed_texts, saved_text, tensors_table

_SHOWN = 20
_NOTHING = "No graph has a backward: none was compiled for training by AOTAutograd."


def training_page(recording: Recording, show_all: bool) -> Iterator[Block]:
    """For `graphs --training`: each graph's forward and backward, and everything that is saved."""
    is_empty = True
    for process in recording.processes:
        for graph in process.graphs:
            pairs = pairs_of(graph, process)
            if pairs is not None and not pairs:
                continue
            is_empty = False
            yield Heading(_title(graph) + process_title(process, recording))
            if pairs is None:
                yield from (Paragraph(fact) for fact in pairs_facts(pairs))
            for pair in pairs or ():
                yield from _pair(pair, graph, show_all)
    if is_empty:
        yield Heading(_nothing(recording), 1)
    else:
        yield Paragraph(
            "Activations share storages where they are views of each other. Inputs are there anyway, as far "
            "as the graphs go: Inductor may save a copy of one in another memory layout.",
            "dim",
        )


def _nothing(recording: Recording) -> str:
    """That no graph was compiled for training, or that it is not known."""
    probes = ("forward and backward graphs", "backward calls")
    if probe_failed(recording.processes, *probes) is not None:
        return were_not_recorded("Forward and backward graphs", recording.processes, *probes)
    return no_graphs(recording, _NOTHING)


def _pair(pair: AotPair, graph: Graph, show_all: bool) -> Iterator[Block]:
    yield _graphs(pair)
    for line in (saved_text([pair]), *recomputed_texts([pair])):
        yield Paragraph(line[0].upper() + line[1:] + ".")
    tensors = saved_by([pair]).tensors
    shown = tensors if show_all else tensors[:_SHOWN]
    if shown:
        yield tensors_table(shown, _paths_of_inputs(pair, graph))
    if len(tensors) > len(shown):
        yield Paragraph(f"… and {number(len(tensors) - len(shown), 'more tensor')}: --all shows them.", "dim")


def _graphs(pair: AotPair) -> Table:
    ops = ops_of([pair])
    joint = "not recorded" if ops.joint is None else f"{ops.joint:,}"
    saved = f"{len(pair.saved):,} saved"
    inputs, outputs = number(pair.inputs, "input"), number(pair.outputs, "output")
    tangents, gradients = number(pair.tangents, "tangent"), number(pair.gradients, "gradient")
    return table(
        "graph|ops>|takes|returns",
        [
            ["joint", joint, f"{inputs}, {tangents}", f"{outputs}, {gradients}"],
            ["forward", f"{ops.forward:,}", inputs, f"{outputs}, {saved}"],
            ["backward", f"{ops.backward:,}", f"{saved}, {tangents}", gradients],
        ],
    )


def _paths_of_inputs(pair: AotPair, graph: Graph) -> dict[str, str]:
    """The user's names of the saved inputs.

    AOTAutograd takes Dynamo's placeholders in their order, as `primals_1` and so on; where their number or a
    shape differs, it has taken something else (parts of a split graph, of a tensor subclass): none is named.
    """
    placeholders = [node for node in graph.nodes or () if node.op == "placeholder"]
    if len(placeholders) != pair.inputs:
        return {}
    by_name = {f"primals_{index}": node for index, node in enumerate(placeholders, 1)}
    found = {}
    for value in pair.saved:
        node = by_name.get(value.name)
        if value.kind != INPUT or value.tensor is None or node is None:
            continue
        if not node.tensors or _what(node.tensors[0]) != _what(value.tensor):
            return {}
        if node.source:
            found[value.name] = module_path(node.source)
    return found


def _what(tensor: TensorInfo) -> tuple[object, ...]:
    return (tensor.shape, tensor.dtype, tensor.device)


def operators_page(recording: Recording, show_all: bool) -> Iterator[Block]:
    """For `ops --aot`: the operators of forward and backward graphs, of all graphs and of each."""
    trained = [
        (_title(graph) + process_title(process, recording), pairs)
        for process in recording.processes
        for graph in process.compiled_graphs
        if (pairs := pairs_of(graph, process))
    ]
    if not trained:
        yield Heading(_nothing(recording), 1)
        return
    everything = [pair for _, pairs in trained for pair in pairs]
    ops = ops_of(everything)
    yield Heading(
        f"{number(ops.forward, 'op')} forward and {ops.backward:,} backward in "
        f"{number(len(trained), 'graph')}, as AOTAutograd made them",
        1,
    )
    if len(trained) > 1:
        yield from _operators("All graphs", everything, show_all)
    for title, pairs in trained:
        yield from _operators(title, pairs, show_all)


def _operators(title: str, pairs: Sequence[AotPair], show_all: bool) -> Iterator[Block]:
    forward: Counter[str] = Counter()
    backward: Counter[str] = Counter()
    recomputed: Counter[str] = Counter()
    for pair in pairs:
        forward.update(pair.forward)
        backward.update(pair.backward)
        recomputed.update(pair.recomputed)
    both = forward + backward
    kinds = sorted(both, key=lambda name: (-both[name], name))
    shown = kinds if show_all else kinds[:_SHOWN]
    yield Heading(title)
    yield table(
        "forward>|backward>|recomputed>|op|",
        [
            [
                *(str(counts[name] or "") for counts in (forward, backward, recomputed)),
                name,
                bar(both[name], max(both.values())),
            ]
            for name in shown
        ],
    )
    if len(kinds) > len(shown):
        yield Paragraph(f"… and {number(len(kinds) - len(shown), 'more kind')}: --all shows them.", "dim")


def _title(graph: Graph) -> str:
    return f"Graph {graph.number} {compile_label(graph.compile_id)} {place_in(graph)}"
