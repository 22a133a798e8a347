"""`dynamo graphs` as JSON: one declaration for the document and its schema."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Annotated, Literal

from dynamo_core.analysis.graphs.nodes import Kind, counts_of, kind_of
from dynamo_core.analysis.summary import by_compile
from dynamo_core.model import (
    AssignedBackend,
    CompileId,
    Graph,
    Node,
    Place,
    Process,
    Recording,
    Stage,
    Symbol,
)
from dynamo_core.shared.conversion import from_fields
from dynamo_core.shared.declared import INLINE, At, Count, Ge, Seconds
from dynamo_core.shared.quick_dataclass import dataclass

from ..parts.training_document import Pair, pairs_in

# The stages of a compile: the texts that torch records on the way from Dynamo's graph to the code that runs.
#
# Source: the `trace_structured` calls of torch/_dynamo, torch/_functorch/_aot_autograd and torch/_inductor
# (compile_fx.py, debug.py, graph.py), 2.8 to 2.15.


DYNAMO = "dynamo"

# What a stage is called on the command line, and the records that hold it, in the order of a compile.
STAGES = {
    DYNAMO: ("dynamo_output_graph",),
    "ddp-split": ("optimize_ddp_split_graph", "optimize_ddp_split_child"),
    "pre-grad": ("before_pre_grad_graph", "after_pre_grad_graph"),
    "aot-joint": ("aot_joint_graph",),
    "aot-forward": ("aot_forward_graph",),
    "aot-backward": ("aot_backward_graph",),
    "aot-inference": ("aot_inference_graph", "aot_inference_graph_after_hop_passes"),
    "compiled-autograd": ("compiled_autograd_graph_pre_reordering", "compiled_autograd_graph"),
    "joint": ("before_joint_graph", "after_joint_graph"),
    "post-grad": ("before_post_grad_graph", "after_post_grad_graph", "inductor_post_grad_graph"),
    "output-code": ("inductor_output_code",),
    "runnable": ("fx_graph_runnable",),
}
GROUPS = {
    "aot": ("aot-joint", "aot-forward", "aot-backward", "aot-inference"),
    "all": tuple(STAGES),
}
Way = Literal["forward", "backward"]
Direction = Literal["forward", "backward", "joint"]
# Of the records whose name says it; there is one graph only where it is None.
_DIRECTIONS: Mapping[str, Direction | None] = {
    "aot_joint_graph": "joint",
    "before_joint_graph": "joint",
    "after_joint_graph": "joint",
    "aot_forward_graph": "forward",
    "aot_backward_graph": "backward",
    "aot_inference_graph": None,
    "aot_inference_graph_after_hop_passes": None,
}
_TANGENTS = re.compile(r"\btangents_\d")
_PRIMALS = re.compile(r"\bprimals_\d")


def stage_names(asked: Iterable[str]) -> list[str]:
    """The stages that are meant, each once: groups are replaced by their stages, `_` may stand for `-`."""
    plain = [name.lower().replace("_", "-") for name in asked]
    return list(dict.fromkeys(stage for name in plain for stage in GROUPS.get(name, (name,))))


def records_of(stages: Iterable[str]) -> frozenset[str]:
    """The names of the records that hold these stages."""
    return frozenset(record for stage in stages for record in STAGES.get(stage, ()))


def recorded_stages(processes: Iterable[Process]) -> list[str]:
    """The stages of which a recording has anything, asked for or not."""
    counts = [process.health.record_counts for process in processes]
    return [stage for stage, records in STAGES.items() if any(r in c for r in records for c in counts)]


def stage_of(record: str) -> str:
    """The stage that a record belongs to."""
    return next((stage for stage, records in STAGES.items() if record in records), record)


def direction(stage: Stage) -> Direction | None:
    """Whether a text is of a `forward`, `backward` or `joint` graph; None where there is one graph only."""
    return _DIRECTIONS[stage.name] if stage.name in _DIRECTIONS else way_by_inputs(stage.text)


def way_by_inputs(text: str) -> Way | None:
    """The direction of a graph that is not joint, by the names that AOTAutograd gives its inputs.

    Those of a backward graph it names after the tangents among them.
    """
    if _TANGENTS.search(text):
        return "backward"
    return "forward" if _PRIMALS.search(text) else None


def stage_title(stage: Stage) -> str:
    """The record's name, and which way the graph goes where the name does not say."""
    way = direction(stage)
    return stage.name if way is None or way in stage.name else f"{stage.name}, {way}"


def texts_by_compile(process: Process, stages: Sequence[str]) -> list[tuple[CompileId | None, list[Stage]]]:
    """The texts of these stages, compile by compile, in the order in which torch wrote them.

    Dynamo's own graph comes first: the model holds it with the graphs.
    """
    found: dict[CompileId | None, list[Stage]] = {}
    if DYNAMO in stages:
        for graph in process.graphs:
            if graph.code is not None:
                stage = Stage("dynamo_output_graph", graph.compile_id, graph.code)
                found.setdefault(graph.compile_id, []).append(stage)
    records = records_of(stages)
    for stage in process.stages:
        if stage.name in records:
            found.setdefault(stage.compile_id, []).append(stage)
    return list(found.items())


def missing_stages(processes: Sequence[Process], asked: Iterable[str]) -> list[str]:
    """The requested stages and groups of which there is no text."""
    return [
        name
        for name in asked
        if not any(texts_by_compile(process, stage_names([name])) for process in processes)
    ]


@dataclass(frozen=True)
class NodeOfGraph:
    """A node of the FX graph, in torch.fx's order."""

    node: Node = field(metadata=INLINE)
    kind: Annotated[Kind | None, "of a placeholder"]


@dataclass(frozen=True)
class GraphCaptured:
    """A graph that Dynamo handed to a backend."""

    process: Process
    number: Annotated[int, Ge(1), "from 1 within the process, as --graph takes it"]
    compile_id: CompileId | None
    attempt: Annotated[Count, "which restart of the analysis it is from"]
    name: Annotated[str | None, "torch's: __compiled_fn_1_…"]
    backend: str | None
    assigned_backend: Annotated[
        AssignedBackend | None,
        "null where torch gave the graph to the only backend, or that was not recorded",
    ]
    frame_name: Annotated[
        str | None, "the function that was compiled; a resume function has torch's name for it"
    ]
    frame_place: Annotated[Place | None, "where it begins"]
    is_compiled: Annotated[bool, "whether the backend took it"]
    is_specialization: Annotated[bool, "whether it is a further compile of a graph that counts already"]
    ops: Annotated[Count | None, "nodes with an opcode call_*"]
    counts: Annotated[
        Mapping[str, Count] | None,
        "placeholders by their kind (inputs, parameters, buffers, symbols), call_* nodes (ops) and distinct "
        "nodes that are returned (outputs); null where the nodes were not recorded",
    ]
    calls: Annotated[Count | None, "how often what the backend made of it was called"]
    untimed_calls: Annotated[
        Count | None,
        At("times.untimed"),
        "of these, how many were only counted, since the calls are short: the time is extrapolated from the "
        "others",
    ]
    host_seconds: Annotated[Seconds | None, "time in those calls (forward), as the host saw it"]
    backend_seconds: Annotated[Seconds | None, "what the backend took to compile it"]
    symbols: Annotated[list[Symbol], "the sizes and numbers that Dynamo made dynamic in this compile"]
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
    record: Annotated[str, At("name"), "the name of torch's record"]
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
    return from_fields(
        GraphCaptured,
        graph,
        process=process,
        counts=counts_of(graph),
        symbols=list(symbols),
        nodes=None if graph.nodes is None else list(map(_node, graph.nodes)),
        training=pairs_in(graph, process),
    )


def _node(node: Node) -> NodeOfGraph:
    return NodeOfGraph(node, kind_of(node) if node.op == "placeholder" else None)


def _text(stage: Stage, process: Process) -> TextOfStage:
    return from_fields(
        TextOfStage,
        stage,
        process=process,
        stage=stage_of(stage.name),
        direction=direction(stage),
    )
