"""What one line, or a short section, says of forward and backward graphs."""

from collections import Counter
from collections.abc import Iterator, Sequence

from dynamo_core.analysis.graphs.nodes import TIMES, module_path, place_in, tensor_text
from dynamo_core.analysis.summary import probe_failed, were_not_recorded
from dynamo_core.analysis.training import KINDS, are_unread, captured_steps, ops_of, pairs_of, saved_by
from dynamo_core.analysis.words import compile_label, count_text, memory, number, place, process_title
from dynamo_core.model import AotPair, Graph, Process, Recording, SavedTensor, TensorInfo
from dynamo_core.shared.aot_pair import ACTIVATION, INPUT

from ..page.blocks import Block, Bullets, Heading, Paragraph, Table, bar, rest, table
from .sections import no_graphs

_GRAPHS_SHOWN = 10
_LARGEST_SHOWN = 5


def pairs_facts(pairs: Sequence[AotPair] | None) -> list[str]:
    """What is known of a graph's forward and backward, a line for each subject; nothing of inference."""
    if pairs is None:
        return ["training: its forward and backward graph were not recorded"]
    if not pairs:
        return []
    ops = ops_of(pairs)
    joint = "not recorded" if ops.joint is None else number(ops.joint, "op")
    parts = f" in {number(len(pairs), 'part')}" if len(pairs) > 1 else ""
    first = (
        f"training{parts}: forward {number(ops.forward, 'op')}, backward {number(ops.backward, 'op')}, "
        f"joint graph {joint}"
    )
    return [first, saved_text(pairs), *recomputed_texts(pairs)]


def saved_text(pairs: Sequence[AotPair]) -> str:
    """What is saved for the backward, in one line."""
    saved = saved_by(pairs)
    text = f"saves {number(len(saved.tensors), 'tensor')} for the backward, {memory(saved.bytes)}"
    kinds = [number(saved.count(kind), kind) for kind in KINDS if saved.count(kind)]
    if kinds:
        text += f": {', '.join(kinds)}"
    if saved.count(ACTIVATION):
        text += f" of {memory(saved.memory)}"
    if saved.symbols:
        text += f"; and {number(saved.symbols, 'size')}"
    return f"{text} (sizes as met when compiling)" if saved.is_symbolic else text


def recomputed_texts(pairs: Sequence[AotPair]) -> list[str]:
    """What the backward computes once more, in a line; none where that is nothing."""
    again = [
        name if count == 1 else f"{count} {TIMES} {name}"
        for pair in pairs
        for name, count in pair.recomputed.items()
    ]
    return [f"the backward computes again: {', '.join(again)}"] if again else []


def tensors_table(tensors: Sequence[SavedTensor], names: dict[str, str] | None = None) -> Table:
    """Saved tensors with what made them and the line; those in `names` go by the name there."""
    rows = [
        [
            memory(value.bytes),
            (names or {}).get(value.name, value.name),
            value.kind,
            value.operator or "",
            "" if value.tensor is None else tensor_text(value.tensor),
            "" if value.place is None else place(value.place),
        ]
        for value in tensors
    ]
    return table("size>|saved|is|made by|value|line", rows)


def training_section(recording: Recording) -> Iterator[Block]:
    """For `explain`: the graphs that train, what they save, and what became of the optimizers."""
    for process in recording.processes:
        trained = [(graph, pairs) for graph in process.compiled_graphs if (pairs := pairs_of(graph, process))]
        notes = _missing(process) + optimizer_notes(process)
        if not (trained or notes):
            continue
        yield Heading(f"Training{process_title(process, recording)}")
        yield from _trained(trained)
        yield Bullets(notes)


def _trained(trained: list[tuple[Graph, list[AotPair]]]) -> Iterator[Block]:
    if not trained:
        return
    trained.sort(key=lambda each: -(saved_by(each[1]).bytes or 0))
    yield table(
        "graph>|forward ops>|backward ops>|recomputed>|saves>|bytes>|activations>",
        [_row(graph, pairs) for graph, pairs in trained[:_GRAPHS_SHOWN]],
    )
    yield from rest(len(trained) - _GRAPHS_SHOWN, "graph", "; `dynamo graphs --training` shows all")
    everything = [pair for _, pairs in trained for pair in pairs]
    if saved_by(everything).is_symbolic:
        yield Paragraph("* with the symbolic sizes as met when compiling", "dim")
    if len(trained) > 1:
        yield Paragraph(f"All graphs: {saved_text(everything).removeprefix('saves ')}.")
    # What is an input is there anyway.
    made = [value for value in saved_by(everything).tensors if value.kind != INPUT]
    if made:
        yield Paragraph("The largest that are no inputs:")
        yield tensors_table(made[:_LARGEST_SHOWN])


def _row(graph: Graph, pairs: Sequence[AotPair]) -> list[str]:
    saved, ops = saved_by(pairs), ops_of(pairs)
    met = " *" if saved.is_symbolic else ""
    return [
        f"{graph.number} {compile_label(graph.compile_id)}",
        f"{ops.forward:,}",
        f"{ops.backward:,}",
        f"{ops.recomputed:,}",
        number(len(saved.tensors), "tensor"),
        memory(saved.bytes) + met,
        memory(saved.memory) + met,
    ]


def _missing(process: Process) -> list[str]:
    if are_unread(process) and not process.is_ours:
        return ["forward and backward graphs: `dynamo graphs --training` reads them from this trace"]
    graphs = [graph.number for graph in process.compiled_graphs if pairs_of(graph, process) is None]
    listed = ", ".join(map(str, graphs))
    return [f"forward and backward graphs of graph {listed}: not recorded"] if graphs else []


def optimizer_notes(process: Process) -> list[str]:
    """For each optimizer that the program made, whether its step is in a graph."""
    notes = []
    for optimizer, graphs in captured_steps(process):
        if graphs is None:
            what = "whether its step is in a graph was not recorded"
        elif graphs:
            listed = ", ".join(map(str, graphs))
            what = f"its step is captured, as {'graph' if len(graphs) == 1 else 'graphs'} {listed}"
        else:
            what = "its step is not captured, it runs eager"
        notes.append(f"optimizer {optimizer.name}: {what}")
    return notes


# The pages of `graphs --training` and `ops --aot`.


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
    """A sentence: no graph was compiled for training, or it is not known."""
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
    yield from rest(len(tensors) - len(shown), "tensor", ": --all shows them.")


def _graphs(pair: AotPair) -> Table:
    ops = ops_of([pair])
    joint = count_text(ops.joint)
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
    yield from rest(len(kinds) - len(shown), "kind", ": --all shows them.")


def _title(graph: Graph) -> str:
    return f"Graph {graph.number} {compile_label(graph.compile_id)} {place_in(graph)}"
