"""`dynamo graphs` as JSON: one declaration for the document and its schema."""

from collections.abc import Sequence
from typing import Annotated, Literal

from dynamo_core.analysis.by_compile import by_compile
from dynamo_core.analysis.graphs.node_text import Kind, counts_of, kind_of
from dynamo_core.model import CompileId, Graph, Node, Place, Process, Recording, Stage, Symbol, TensorInfo
from dynamo_core.shared.declared import AtLeast, Count, Seconds
from dynamo_core.shared.quick_dataclass import dataclass

from ..parts.backends import Taken, taken
from ..parts.training.document import Pair, pairs_in
from .stages import (
    Direction,
    Way,
    direction,
    missing_stages,
    recorded_stages,
    stage_names,
    stage_of,
    texts_by_compile,
)


@dataclass(frozen=True)
class Counts:
    """How many of each kind of node a graph has."""

    inputs: Annotated[Count, "placeholders that are none of the following"]
    parameters: Annotated[Count, "placeholders for a torch.nn.Parameter"]
    buffers: Annotated[Count, "placeholders for a module's buffer"]
    symbols: Annotated[Count, "placeholders for a symbolic number"]
    ops: Annotated[Count, "call_* nodes"]
    outputs: Annotated[Count, "distinct nodes that are returned"]


@dataclass(frozen=True)
class DynamicSymbol:
    """A size or number that Dynamo made dynamic."""

    name: str
    hint: Annotated[str, "the value that was met when compiling"]
    source: Annotated[str, "what it is the size of"]
    place: Place | None


@dataclass(frozen=True)
class TensorValue:
    """What Dynamo knew of a tensor."""

    shape: Annotated[list[int | str], "symbolic sizes by name"]
    stride: Annotated[list[int | str] | None, "null for a tensor that is not strided"]
    dtype: Annotated[str, "as in torch.float32, without the torch."]
    device: Annotated[str, "as in cuda:0"]
    requires_grad: Annotated[bool, "as Dynamo knew it while it traced"]


@dataclass(frozen=True)
class NodeOfGraph:
    """A node of the FX graph, in torch.fx's order."""

    op: Annotated[
        Literal["placeholder", "get_attr", "call_function", "call_method", "call_module", "output", "root"],
        "torch.fx's opcode",
    ]
    name: Annotated[str, "the node's name, by which others refer to it"]
    target: Annotated[str, "what is called: torch.abs, operator.add, a method's name"]
    args: Annotated[str, "as torch.fx prints them"]
    kwargs: Annotated[str, "as torch.fx prints them"]
    inputs: Annotated[list[str], "the names of the nodes that it reads, each once"]
    tensors: Annotated[
        list[TensorValue],
        "one for a tensor, several for a tuple of them; none where the value is something else or not known",
    ]
    symbol: Annotated[str | None, "the expression, where the value is a symbolic number"]
    kind: Annotated[Kind | None, "of a placeholder"]
    source: Annotated[str | None, "where the frame finds a placeholder's value, as Dynamo writes it"]
    is_parameter: Annotated[bool, "whether a placeholder's value is a torch.nn.Parameter"]
    place: Annotated[Place | None, "the innermost line of the user's that made the node"]


@dataclass(frozen=True)
class GraphCaptured:
    """A graph that Dynamo handed to a backend."""

    process: Process
    number: Annotated[int, AtLeast(1), "from 1 within the process, as --graph takes it"]
    compile_id: CompileId | None
    attempt: Annotated[Count, "which restart of the analysis it is from"]
    name: Annotated[str | None, "torch's: __compiled_fn_1_…"]
    backend: str | None
    assigned_backend: Annotated[
        Taken | None, "null where torch gave the graph to the only backend, or that was not recorded"
    ]
    frame_name: Annotated[
        str | None, "the function that was compiled; a resume function has torch's name for it"
    ]
    frame_place: Annotated[Place | None, "where it begins"]
    is_compiled: Annotated[bool, "whether the backend took it"]
    is_specialization: Annotated[bool, "whether it is a further compile of a graph that counts already"]
    ops: Annotated[Count | None, "nodes with an opcode call_*"]
    counts: Annotated[Counts | None, "null where the nodes were not recorded"]
    calls: Annotated[Count | None, "how often what the backend made of it was called"]
    untimed_calls: Annotated[
        Count | None,
        "of these, how many were only counted, since the calls are short: the time is extrapolated from the "
        "others",
    ]
    host_seconds: Annotated[Seconds | None, "time in those calls, as the host saw it"]
    backend_seconds: Annotated[Seconds | None, "what the backend took to compile it"]
    symbols: Annotated[list[DynamicSymbol], "the sizes and numbers that Dynamo made dynamic in this compile"]
    nodes: Annotated[list[NodeOfGraph] | None, "null in a trace without our records"]
    code: Annotated[str | None, "torch's readable code of it"]
    training: Annotated[
        list[Pair] | None,
        "the forward and backward graphs that AOTAutograd made of it: none for inference, several where it "
        "was split; null where there is a backward and its graphs were not recorded",
    ]


@dataclass(frozen=True)
class TextOfStage:
    """A text of a stage that was asked for."""

    process: Process
    stage: Annotated[str, "as --stage takes it"]
    record: Annotated[str, "the name of torch's record"]
    compile_id: CompileId | None
    direction: Annotated[Direction | None, "null where the compile has no backward"]
    file: Annotated[str | None, "where torch keeps the text, if it does"]
    text: str


@dataclass(frozen=True)
class Program:
    """A program that runs one graph."""

    graph: Annotated[Count, "its number"]
    compile_id: CompileId | None
    origin: Annotated[
        Literal["torch", "dynamo"],
        "torch: its fx_graph_runnable record; dynamo: written from the graph's code",
    ]
    direction: Way | None
    text: Annotated[str, "the program"]


@dataclass(frozen=True)
class Graphs:
    """The graphs that Dynamo handed to a backend, and what later stages made of them."""

    graphs: Annotated[list[GraphCaptured], "of all processes, in the order in which they were made"]
    stages: Annotated[list[TextOfStage], "empty unless --stage asks for some"]
    stages_recorded: Annotated[list[str], "the stages of which the recording has anything, asked for or not"]
    stages_not_recorded: Annotated[
        list[str], "those asked for of which there is nothing in what was selected"
    ]


@dataclass(frozen=True)
class GraphsAndProgram(Graphs):
    """The graphs that Dynamo handed to a backend, what later stages made of them, and a program."""

    runnable: Annotated[Program, "with --runnable"]


def graphs_of(recording: Recording, stages: Sequence[str]) -> Graphs:
    """The graphs of all processes, and the texts of the stages asked for."""
    return Graphs(
        graphs=[
            _graph(graph, process, symbols.get(graph.compile_id, ()))
            for process in recording.processes
            for symbols in [by_compile(process.symbols)]
            for graph in process.graphs
        ],
        stages=[
            _text(text, process)
            for process in recording.processes
            for _, texts in texts_by_compile(process, stage_names(stages))
            for text in texts
        ],
        stages_recorded=recorded_stages(recording.processes),
        stages_not_recorded=missing_stages(recording.processes, stages),
    )


def _graph(graph: Graph, process: Process, symbols: Sequence[Symbol]) -> GraphCaptured:
    counts = counts_of(graph)
    return GraphCaptured(
        process=process,
        number=graph.number,
        compile_id=graph.compile_id,
        attempt=graph.attempt,
        name=graph.name,
        backend=graph.backend,
        assigned_backend=taken(graph),
        frame_name=graph.frame_name,
        frame_place=graph.frame_place,
        is_compiled=graph.is_compiled,
        is_specialization=graph.is_specialization,
        ops=graph.ops,
        counts=None if counts is None else Counts(**counts),
        calls=graph.calls,
        untimed_calls=None if graph.times is None else graph.times.untimed,
        host_seconds=graph.host_seconds,
        backend_seconds=graph.backend_seconds,
        symbols=[DynamicSymbol(symbol.name, symbol.hint, symbol.source, symbol.place) for symbol in symbols],
        nodes=None if graph.nodes is None else list(map(_node, graph.nodes)),
        code=graph.code,
        training=pairs_in(graph, process),
    )


def _node(node: Node) -> NodeOfGraph:
    return NodeOfGraph(
        op=node.op,
        name=node.name,
        target=node.target,
        args=node.args,
        kwargs=node.kwargs,
        inputs=list(node.inputs),
        tensors=list(map(_tensor, node.tensors)),
        symbol=node.symbol,
        kind=kind_of(node) if node.op == "placeholder" else None,
        source=node.source,
        is_parameter=node.is_parameter,
        place=node.place,
    )


def _tensor(tensor: TensorInfo) -> TensorValue:
    return TensorValue(
        shape=list(tensor.shape),
        stride=None if tensor.stride is None else list(tensor.stride),
        dtype=tensor.dtype,
        device=tensor.device,
        requires_grad=tensor.requires_grad,
    )


def _text(stage: Stage, process: Process) -> TextOfStage:
    return TextOfStage(
        process=process,
        stage=stage_of(stage.name),
        record=stage.name,
        compile_id=stage.compile_id,
        direction=direction(stage),
        file=stage.file,
        text=stage.text,
    )
