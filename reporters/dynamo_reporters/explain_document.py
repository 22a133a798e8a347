"""`dynamo explain --format json`: a versioned document. Absent data is null, never 0.

Version 1: schema, version, recording, verdict, summary, run, processes, problems.
"""

from dataclasses import asdict
from typing import Any

from dynamo_core.model import Compile, CompileId, Frame, Graph, GraphBreak, Place, Process, Recording
from dynamo_core.summary import summarize

from .explain import disagreements
from .verdict import verdict

SCHEMA = "dynamo-explain"
VERSION = 1


def explain_document(recording: Recording) -> dict[str, Any]:
    """The whole picture of a recording as JSON values."""
    summary = summarize(recording)
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "recording": str(recording.path),
        "verdict": verdict(recording, summary),
        "is_partial": recording.is_partial,
        "summary": asdict(summary),
        "run": recording.run,
        "python_processes": recording.python_processes,
        "processes": [_process(process) for process in recording.processes],
        "problems": recording.problems + disagreements(recording.processes),
    }


def _process(process: Process) -> dict[str, Any]:
    return {
        "stream": process.stream.name,
        "info": process.info or None,
        "torch": process.torch_version,
        "captures": [asdict(decision) for decision in process.captures],
        "frames": [_frame(frame) for frame in process.frames] if process.is_ours else None,
        "graphs": [_graph(graph) for graph in process.graphs],
        "inherited_graph_calls": process.inherited_calls if process.is_ours else None,
        "graph_breaks": [_break(b) for b in process.breaks] if process.is_ours else None,
        "compiles": [_compile(compile_) for compile_ in process.compiles],
        "torch_totals": (process.end or {}).get("torch_totals"),
        "torch_config": process.state.get("torch_config"),
        "devices": process.state.get("devices"),
        "failed_probes": process.failed_probes,
        "damaged_records": process.damaged_records,
        "lost_records": process.lost_records,
        "records": process.record_counts,
    }


def _id(compile_id: CompileId | None) -> str | None:
    return None if compile_id is None else str(compile_id)


def _place(value: Place | None) -> dict[str, Any] | None:
    return None if value is None else {"file": value.file, "line": value.line}


def _frame(frame: Frame) -> dict[str, Any]:
    return {
        "name": frame.name,
        "place": _place(frame.place),
        "compile_id": _id(frame.compile_id),
        "outcome": frame.outcome,
        "reason": frame.reason,
        "ok": frame.ok,
        "whole_graph": frame.is_whole_graph,
    }


def _graph(graph: Graph) -> dict[str, Any]:
    return {
        "number": graph.number,
        "name": graph.name,
        "compile_id": _id(graph.compile_id),
        "frame": graph.frame_name,
        "place": _place(graph.frame_place),
        "backend": graph.backend,
        "compiled": graph.is_compiled,
        "specialization": graph.is_specialization,
        "ops": graph.ops,
        "calls": graph.calls,
        "host_seconds": graph.host_seconds,
        "backend_seconds": graph.backend_seconds,
    }


def _break(graph_break: GraphBreak) -> dict[str, Any]:
    explanation = graph_break.explanation
    return {
        "place": _place(graph_break.place),
        "kind": graph_break.kind,
        "reason": graph_break.reason,
        "compile_id": _id(graph_break.compile_id),
        "stack": [
            {**(_place(place) or {}), "name": name, "text": text} for place, name, text in graph_break.stack
        ],
        "explanation": explanation.explanation if explanation else None,
        "hints": list(explanation.hints) if explanation else None,
        "registry_id": explanation.registry_id if explanation else None,
    }


def _compile(compile_: Compile) -> dict[str, Any]:
    return {
        "compile_id": _id(compile_.compile_id),
        "frame": compile_.name,
        "place": _place(compile_.place),
        "seconds": compile_.seconds,
        "forward": compile_.is_forward,
        "guards": compile_.guards,
        "ops": compile_.ops,
        "recompile_reason": compile_.recompile_reason,
        "fail_type": compile_.fail_type,
        "fail_reason": compile_.fail_reason,
        "cumulative_phases": compile_.phases,
        "cache_hits": compile_.cache_hits,
        "cache_misses": compile_.cache_misses,
    }
