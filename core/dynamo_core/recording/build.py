"""Turn the records of one process into the model, one record at a time.

The same code reads a finished recording and follows a running program; `add` returns what has just become
complete, so that it can be shown at once.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from .. import names
from ..model import (
    Bytecode,
    CaptureDecision,
    Compile,
    CompileId,
    Frame,
    Graph,
    GraphBreak,
    Guard,
    GuardSet,
    Instruction,
    Node,
    Place,
    Process,
    ResumeFunction,
    TensorInfo,
)
from .break_text import parse_break_text
from .records import Damaged, Record

Item = Graph | GraphBreak | Compile | GuardSet | Bytecode | Frame

# Each phase holds those after it. torch calls the time in any backend "aot_autograd" in its metrics
# (torch/_dynamo/output_graph.py, call_user_compiler: phase_name="backend_compile").
_PHASES = {
    "dynamo_cumulative_compile_time_us": "dynamo",
    "aot_autograd_cumulative_compile_time_us": "backend",
    "inductor_cumulative_compile_time_us": "inductor",
    "inductor_code_gen_cumulative_compile_time_us": "inductor_code_gen",
    "backward_cumulative_compile_time_us": "backward",
}


class ProcessBuilder:
    """Builds one `Process`. A record that cannot be understood is counted as damaged and passed over."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self._graphs: dict[int, Graph] = {}
        self._interned: dict[int, str] = {}
        self._frames_begun: dict[CompileId | None, tuple[str, Place]] = {}
        self._handlers: dict[str, Callable[[Record], Item | None]] = {
            names.PROCESS_START: self._process_start,
            names.PROCESS_STATE: self._process_state,
            names.PROCESS_END: self._process_end,
            names.CAPTURE_DECISION: self._capture_decision,
            names.PROBE_FAILED: self._probe_failed,
            names.FRAME: self._frame,
            names.FX_GRAPH: self._fx_graph,
            names.GRAPH_COMPILED: self._graph_compiled,
            names.BYTECODE: self._bytecode,
            names.RESUME_FUNCTION: self._resume_function,
            names.GUARDS: self._guards,
            names.GRAPH_BREAK: self._graph_break,
            "str": self._intern,
            "dynamo_start": self._dynamo_start,
            "torch_version": self._torch_version,
            "dynamo_graph_break_reason": self._break_explanation,
            "dynamo_output_graph": self._output_graph,
            "compilation_metrics": self._compilation_metrics,
            "bwd_compilation_metrics": self._compilation_metrics,
        }

    def add(self, record: Record) -> Item | None:
        """Take one record; what it completes, if anything."""
        name = record.artifact_name or record.kind
        counts = self.process.record_counts
        counts[name] = counts.get(name, 0) + 1
        handle = self._handlers.get(name)
        if handle is None:
            return None
        try:
            return handle(record)
        except (Damaged, KeyError, TypeError, ValueError, AttributeError, IndexError):
            self.process.damaged_records += 1
            return None

    def _process_start(self, record: Record) -> None:
        self.process.info = dict(record.json_payload())
        self.process.torch_version = str(self.process.info["torch"])

    def _process_state(self, record: Record) -> None:
        self.process.state = dict(record.json_payload())

    def _process_end(self, record: Record) -> None:
        self.process.end = dict(record.json_payload())

    def _torch_version(self, record: Record) -> None:
        self.process.torch_version = str(record.json_payload()["pytorch_version"])

    def _intern(self, record: Record) -> None:
        text, number = record.metadata["str"]
        self._interned[number] = text

    def _dynamo_start(self, record: Record) -> None:
        frame = record.metadata["dynamo_start"]["stack"][-1]
        file = self._interned.get(frame["filename"], "<unknown>")
        place = Place(file, frame["line"])
        self._frames_begun[_compile_id(record.metadata)] = (frame["name"], place)

    def _capture_decision(self, record: Record) -> None:
        self.process.captures.append(CaptureDecision(**record.json_payload()))

    def _probe_failed(self, record: Record) -> None:
        failure = record.json_payload()
        self.process.failed_probes[str(failure["probe"])] = str(failure["error"])

    def _frame(self, record: Record) -> Frame:
        content = record.json_payload()
        name, place = content["name"], Place(content["file"], content["line"])
        failure = self._complete_compile(_compile_id(record.metadata), name, place)
        frame = Frame(
            name=name,
            place=place,
            outcome=content["outcome"],
            reason=failure or content["reason"],
            ok=content["ok"],
            is_whole_graph=content["whole_graph"],
            compile_id=_compile_id(record.metadata),
        )
        self.process.frames.append(frame)
        return frame

    def _complete_compile(self, compile_id: CompileId | None, name: str, place: Place) -> str | None:
        """Name the frame of a compile that failed too early to know it; why it failed, in a line."""
        compiles = self.process.compiles
        if compile_id is None or not compiles or compiles[-1].compile_id != compile_id:
            return None
        last = compiles[-1]
        if last.place is None:
            compiles[-1] = replace(last, name=name, place=place)
        return f"{last.fail_type}: {last.fail_reason.partition(chr(10))[0]}" if last.fail_reason else None

    def _fx_graph(self, record: Record) -> None:
        content = record.json_payload()
        graph = Graph(
            number=content["graph"],
            compile_id=_compile_id(record.metadata),
            attempt=record.metadata.get("attempt", 0),
            name=content["name"],
            backend=content["backend"],
            nodes=[_node(node) for node in content["nodes"]],
        )
        self._name_frame(graph)
        self._graphs[graph.number] = graph
        self.process.graphs.append(graph)

    def _graph_compiled(self, record: Record) -> Graph:
        content = record.json_payload()
        graph = self._graphs[content["graph"]]
        graph.is_compiled = True
        graph.name = content["name"] or graph.name
        graph.is_specialization = content["specialization"]
        graph.backend_seconds = content["backend_ns"] / 1e9
        graph.calls_index = content["calls_index"]
        return graph

    def _output_graph(self, record: Record) -> Graph | None:
        """torch's own record of a graph: what there is in a trace that is not ours."""
        if self.process.is_ours:
            return None
        compile_id = _compile_id(record.metadata)
        graph = Graph(
            number=len(self.process.graphs) + 1,
            compile_id=compile_id,
            attempt=record.metadata.get("attempt", 0),
            name=None,
            backend=None,
            nodes=None,
            is_compiled=True,
        )
        self._name_frame(graph)
        earlier = self.process.graphs
        if earlier and earlier[-1].compile_id == compile_id and earlier[-1].attempt < graph.attempt:
            earlier.pop()  # a later attempt at the same compile replaces the graph
            graph.number -= 1
        earlier.append(graph)
        return graph

    def _name_frame(self, graph: Graph) -> None:
        begun = self._frames_begun.get(graph.compile_id)
        if begun is not None:
            graph.frame_name, graph.frame_place = begun

    def _bytecode(self, record: Record) -> Bytecode:
        content = record.json_payload()
        bytecode = Bytecode(
            compile_id=_compile_id(record.metadata),
            name=content["name"],
            qualified_name=content["qualified_name"],
            place=Place(content["file"], content["first_line"]),
            fingerprint=content["fingerprint"],
            source={int(line): text for line, text in content["source"].items()},
            original=tuple(Instruction(*row) for row in content["original"]),
            modified=tuple(Instruction(*row) for row in content["modified"]),
        )
        self.process.bytecodes.append(bytecode)
        return bytecode

    def _resume_function(self, record: Record) -> None:
        content = record.json_payload()
        self.process.resume_functions.append(
            ResumeFunction(
                content["name"],
                content["code_name"],
                content["fingerprint"],
                _compile_id(record.metadata),
            )
        )

    def _guards(self, record: Record) -> GuardSet:
        guards = tuple(
            Guard(
                type=guard["type"],
                source=guard["source"],
                scope=guard["scope"],
                code=tuple(guard["code"]),
                place=_place(guard),
            )
            for guard in record.json_payload()["guards"]
        )
        guard_set = GuardSet(_compile_id(record.metadata), guards)
        self.process.guard_sets.append(guard_set)
        return guard_set

    def _graph_break(self, record: Record) -> GraphBreak:
        content = record.json_payload()
        stack = tuple(
            (Place(frame["file"], frame["line"]), frame["name"], frame["text"] or "")
            for frame in content["user_stack"]
        )
        compile_id = _compile_id(record.metadata)
        place = stack[-1][0] if stack else None
        explanation = self.process.break_explanations.get((compile_id, place)) if place else None
        graph_break = GraphBreak(content["reason"], stack, compile_id, explanation)
        self.process.breaks.append(graph_break)
        return graph_break

    def _break_explanation(self, record: Record) -> None:
        explanation = parse_break_text(record.payload() or "")
        if explanation is not None:
            key = (_compile_id(record.metadata), explanation.place)
            self.process.break_explanations[key] = explanation

    def _compilation_metrics(self, record: Record) -> Compile:
        metrics = record.metadata[record.kind]
        microseconds = metrics.get("duration_us")
        file, line = metrics.get("co_filename"), metrics.get("co_firstlineno")
        compile_ = Compile(
            compile_id=_compile_id(record.metadata),
            name=metrics.get("co_name"),
            place=Place(file, line) if file is not None and line is not None else None,
            seconds=None if microseconds is None else microseconds / 1e6,
            is_forward=record.kind == "compilation_metrics" and metrics.get("is_forward") is not False,
            guards=metrics.get("guard_count"),
            ops=metrics.get("graph_op_count"),
            recompile_reason=metrics.get("recompile_reason"),
            fail_type=metrics.get("fail_type"),
            fail_reason=metrics.get("fail_reason"),
            phases={
                phase: metrics[key] / 1e6 for key, phase in _PHASES.items() if metrics.get(key) is not None
            },
            cache_hits=_sum(metrics, "_cache_hit_count"),
            cache_misses=_sum(metrics, "_cache_miss_count"),
        )
        self.process.compiles.append(compile_)
        return compile_


def _sum(metrics: Mapping[str, Any], suffix: str) -> int | None:
    counts = [value for key, value in metrics.items() if key.endswith(suffix) and isinstance(value, int)]
    return sum(counts) if counts else None


def _compile_id(metadata: Mapping[str, Any]) -> CompileId | None:
    frame, compile_ = metadata.get("frame_id"), metadata.get("frame_compile_id")
    return None if frame is None or compile_ is None else CompileId(frame, compile_)


def _place(content: Mapping[str, Any]) -> Place | None:
    return Place(content["file"], content["line"]) if "file" in content else None


def _node(content: Mapping[str, Any]) -> Node:
    return Node(
        op=content["op"],
        name=content["name"],
        target=content["target"],
        args=content["args"],
        kwargs=content["kwargs"],
        tensors=_tensors(content),
        symbol=content.get("symbol"),
        source=content.get("source"),
        is_parameter=content.get("parameter", False),
        place=_place(content),
    )


def _tensors(content: Mapping[str, Any]) -> tuple[TensorInfo, ...]:
    if "shape" in content:
        stride = content.get("stride")
        return (
            TensorInfo(
                shape=tuple(content["shape"]),
                stride=None if stride is None else tuple(stride),
                dtype=content["dtype"],
                device=content["device"],
                requires_grad=content.get("requires_grad", False),
            ),
        )
    return tuple(tensor for value in content.get("values", ()) for tensor in _tensors(value))
