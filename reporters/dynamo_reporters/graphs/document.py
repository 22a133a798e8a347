"""The JSON document of `dynamo graphs`, as `schemas/graphs.schema.json` describes it."""

from collections.abc import Sequence
from typing import Any

from dynamo_core.analysis.graphs.node_text import counts_of, kind_of
from dynamo_core.model import Graph, Node, Process, Recording, Stage, TensorInfo

from ..documents import json_value
from ..parts.backends import taking_value
from ..parts.training.document import pairs_in
from ..report import id_value, place_value, process_value
from .stages import direction, missing_stages, recorded_stages, stage_names, stage_of, texts_by_compile


def body(recording: Recording, stages: Sequence[str]) -> dict[str, Any]:
    """The graphs of all processes, and the texts of the stages asked for."""
    return {
        "graphs": [_graph(graph, process) for process in recording.processes for graph in process.graphs],
        "stages": [
            _stage(text, process)
            for process in recording.processes
            for _, texts in texts_by_compile(process, stage_names(stages))
            for text in texts
        ],
        "stages_recorded": recorded_stages(recording.processes),
        "stages_not_recorded": missing_stages(recording.processes, stages),
    }


def _graph(graph: Graph, process: Process) -> dict[str, Any]:
    return {
        "process": process_value(process),
        "number": graph.number,
        "compile_id": id_value(graph.compile_id),
        "attempt": graph.attempt,
        "name": graph.name,
        "backend": graph.backend,
        "taking": taking_value(graph),
        "frame_name": graph.frame_name,
        "frame_place": place_value(graph.frame_place),
        "is_compiled": graph.is_compiled,
        "is_specialization": graph.is_specialization,
        "ops": graph.ops,
        "counts": counts_of(graph),
        "calls": graph.calls,
        "untimed_calls": None if graph.times is None else graph.times.untimed,
        "host_seconds": graph.host_seconds,
        "backend_seconds": graph.backend_seconds,
        "symbols": [
            {
                "name": symbol.name,
                "hint": symbol.hint,
                "source": symbol.source,
                "place": place_value(symbol.place),
            }
            for symbol in process.symbols
            if symbol.compile_id == graph.compile_id
        ],
        "nodes": None if graph.nodes is None else [_node(node) for node in graph.nodes],
        "code": graph.code,
        "training": json_value(pairs_in(graph, process)),
    }


def _node(node: Node) -> dict[str, Any]:
    return {
        "op": node.op,
        "name": node.name,
        "target": node.target,
        "args": node.args,
        "kwargs": node.kwargs,
        "inputs": list(node.inputs),
        "tensors": [_tensor(tensor) for tensor in node.tensors],
        "symbol": node.symbol,
        "kind": kind_of(node) if node.op == "placeholder" else None,
        "source": node.source,
        "is_parameter": node.is_parameter,
        "place": place_value(node.place),
    }


def _tensor(tensor: TensorInfo) -> dict[str, Any]:
    return {
        "shape": list(tensor.shape),
        "stride": None if tensor.stride is None else list(tensor.stride),
        "dtype": tensor.dtype,
        "device": tensor.device,
        "requires_grad": tensor.requires_grad,
    }


def _stage(stage: Stage, process: Process) -> dict[str, Any]:
    return {
        "process": process_value(process),
        "stage": stage_of(stage.name),
        "record": stage.name,
        "compile_id": id_value(stage.compile_id),
        "direction": direction(stage),
        "file": stage.file,
        "text": stage.text,
    }
