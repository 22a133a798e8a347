"""What `dynamo explain --format json` holds: everything that the other reports do not go into."""

from dataclasses import asdict
from typing import Any

from dynamo_core.analysis.findings import find
from dynamo_core.analysis.in_progress import in_progress_lines
from dynamo_core.analysis.stopped import stopped_lines
from dynamo_core.analysis.summary import summarize
from dynamo_core.analysis.verdict import verdict
from dynamo_core.model import Compile, Frame, Graph, GraphBreak, Process, Recording

from ..documents import json_value
from ..parts.after_freeze import freeze_of
from ..parts.backends import taking_value
from ..parts.findings import findings_value
from ..parts.training.document import optimizers_of, totals_in
from ..parts.verified import verified_value
from ..report import id_value, place_value, stack_value
from .compile_phases import phases_of
from .disagreements import disagreements
from .limits import limit_lines
from .overrides import overrides_value
from .semantics import semantics_value


def explain_body(recording: Recording) -> dict[str, Any]:
    """The whole picture of a recording as JSON values."""
    summary = summarize(recording)
    compiles = [compile_ for process in recording.processes for compile_ in process.compiles]
    return {
        "verdict": verdict(recording, summary),
        "summary": asdict(summary),
        "findings": findings_value(find(recording)),
        "compile_phases": [asdict(phase) for phase in phases_of(compiles)] if compiles else None,
        "run": recording.run.as_json() if recording.run is not None else None,
        "python_processes": recording.python_processes,
        "in_progress": in_progress_lines(recording),
        "stopped_at": stopped_lines(recording),
        "limits": limit_lines(recording),
        "processes": [_process(process) for process in recording.processes],
        "freeze": json_value(freeze_of(recording)),
        "overrides": overrides_value(recording),
        "verified": verified_value(recording),
        "semantics": semantics_value(recording),
        "problems": recording.problems + disagreements(recording.processes),
    }


def _process(process: Process) -> dict[str, Any]:
    has_breaks = process.is_ours or process.breaks
    return {
        "stream": process.stream.name,
        "rank": process.rank,
        "info": process.info.as_json() or None,
        "torch": process.torch_version,
        "captures": [asdict(decision) for decision in process.captures],
        "frames": [_frame(frame) for frame in process.frames] if process.is_ours else None,
        "graphs": [_graph(graph, process) for graph in process.graphs],
        "optimizers": json_value(optimizers_of(process)),
        "inherited_graph_calls": process.inherited_calls if process.is_ours else None,
        "graph_breaks": [_break(b) for b in process.breaks] if has_breaks else None,
        "compiles": [_compile(compile_) for compile_ in process.compiles],
        "cache_lookups": [
            {"cache": lookup.cache, "outcome": lookup.outcome, "compile_id": id_value(lookup.compile_id)}
            for lookup in process.cache_lookups
        ],
        "torch_totals": process.end.torch_totals if process.end else None,
        "torch_config": process.state.torch_config,
        "devices": process.state.devices,
        "failed_probes": process.failed_probes,
        "damaged_records": process.damaged_records,
        "lost_records": process.lost_records,
        "records": process.record_counts,
    }


def _frame(frame: Frame) -> dict[str, Any]:
    return {
        "name": frame.name,
        "place": place_value(frame.place),
        "compile_id": id_value(frame.compile_id),
        "outcome": frame.outcome,
        "reason": frame.reason,
        "ok": frame.ok,
        "whole_graph": frame.is_whole_graph,
        "limit": frame.limit,
    }


def _graph(graph: Graph, process: Process) -> dict[str, Any]:
    return {
        "number": graph.number,
        "name": graph.name,
        "compile_id": id_value(graph.compile_id),
        "frame": graph.frame_name,
        "place": place_value(graph.frame_place),
        "backend": graph.backend,
        "taking": taking_value(graph),
        "compiled": graph.is_compiled,
        "specialization": graph.is_specialization,
        "ops": graph.ops,
        "calls": graph.calls,
        "untimed_calls": None if graph.times is None else graph.times.untimed,
        "host_seconds": graph.host_seconds,
        "backend_seconds": graph.backend_seconds,
        "training": json_value(totals_in(graph, process)),
    }


def _break(graph_break: GraphBreak) -> dict[str, Any]:
    explanation = graph_break.explanation
    return {
        "place": place_value(graph_break.place),
        "kind": graph_break.kind,
        "reason": graph_break.reason,
        "compile_id": id_value(graph_break.compile_id),
        "stack": stack_value(graph_break.stack),
        "explanation": explanation.explanation if explanation else None,
        "hints": list(explanation.hints) if explanation else None,
        "registry_id": explanation.registry_id if explanation else None,
    }


def _compile(compile_: Compile) -> dict[str, Any]:
    return {
        "compile_id": id_value(compile_.compile_id),
        "frame": compile_.name,
        "place": place_value(compile_.place),
        "seconds": compile_.seconds,
        "forward": compile_.is_forward,
        "guards": compile_.guards,
        "ops": compile_.ops,
        "recompile_reason": compile_.recompile_reason,
        "restart_reasons": list(compile_.restart_reasons),
        "seconds_before_restart": compile_.seconds_before_restart,
        "fail_type": compile_.fail_type,
        "fail_reason": compile_.fail_reason,
        "cumulative_phases": compile_.phases,
        "cache_hits": compile_.cache_hits,
        "cache_misses": compile_.cache_misses,
    }
