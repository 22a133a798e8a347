"""What happened in a run, as plain data: the language that the reader and the reporters share.

The words are PyTorch's own (frame, compile id, graph, graph break, resume function, guard, recompile). A
value that was not recorded is None, never 0. Counts belong to one process; `Recording` adds them up.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple


class CompileId(NamedTuple):
    """torch's `0/1`: which frame, and which compile of it, both from 0."""

    frame: int
    compile: int

    def __str__(self) -> str:
        return f"{self.frame}/{self.compile}"


class Place(NamedTuple):
    """A line of the user's program."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class TensorInfo:
    """What Dynamo knew of a tensor; symbolic sizes are given by name (`s77`)."""

    shape: tuple[int | str, ...]
    stride: tuple[int | str, ...] | None
    dtype: str
    device: str
    requires_grad: bool = False


@dataclass(frozen=True)
class Node:
    """A node of an FX graph. `tensors` has one entry for a tensor, several for a tuple of them."""

    op: str
    name: str
    target: str
    args: str
    kwargs: str
    tensors: tuple[TensorInfo, ...] = ()
    symbol: str | None = None
    source: str | None = None
    is_parameter: bool = False
    place: Place | None = None


@dataclass
class Graph:
    """A graph that Dynamo handed to a backend. `number` counts from 1 within the process.

    `calls` and `host_seconds` (time inside the compiled callable, as the host saw it) are None where they
    could not be counted; `nodes` is None in a trace that is not ours. A specialization is a further compile
    of a graph that counts already.
    """

    number: int
    compile_id: CompileId | None
    attempt: int
    name: str | None
    backend: str | None
    nodes: list[Node] | None
    frame_name: str | None = None
    frame_place: Place | None = None
    is_compiled: bool = False
    is_specialization: bool = False
    backend_seconds: float | None = None
    calls_index: int | None = None
    calls: int | None = None
    host_seconds: float | None = None

    @property
    def ops(self) -> int | None:
        """The number of `call_*` nodes, which is what Dynamo counts as ops."""
        if self.nodes is None:
            return None
        return sum(node.op.startswith("call_") for node in self.nodes)


@dataclass(frozen=True)
class Frame:
    """One attempt of Dynamo at a frame. `outcome`: compiled, skipped, failed (then eager), raised.

    `ok` is what torch's `counters["frames"]["ok"]` counts. Frames of `fullgraph=True` are not in it.
    """

    name: str
    place: Place
    outcome: str
    reason: str | None
    ok: bool
    is_whole_graph: bool
    compile_id: CompileId | None


@dataclass(frozen=True)
class BreakExplanation:
    """torch's own words on a break: kind, what to do, and its id in the graph break registry (GBnnnn)."""

    place: Place
    kind: str
    explanation: str | None
    hints: tuple[str, ...]
    registry_id: str | None


@dataclass(frozen=True)
class GraphBreak:
    """A break as Dynamo counts them. `stack` is the user's, innermost last."""

    reason: str
    stack: tuple[tuple[Place, str, str], ...]
    compile_id: CompileId | None
    explanation: BreakExplanation | None = None

    @property
    def place(self) -> Place | None:
        """Where the graph broke."""
        return self.stack[-1][0] if self.stack else None

    @property
    def kind(self) -> str:
        """What to call the break: torch's name for its kind, or the first line of the raw reason."""
        return self.explanation.kind if self.explanation else self.reason.partition("\n")[0]


@dataclass(frozen=True)
class Compile:
    """One compilation metrics record: a frame compiled (or not), or a backward graph."""

    compile_id: CompileId | None
    name: str | None
    place: Place | None
    seconds: float | None
    is_forward: bool
    guards: int | None
    ops: int | None
    recompile_reason: str | None
    fail_type: str | None
    fail_reason: str | None
    phases: dict[str, float]
    cache_hits: int | None
    cache_misses: int | None


@dataclass(frozen=True)
class Guard:
    """A condition under which a cache entry may be used."""

    type: str
    source: str
    scope: str | None
    code: tuple[str, ...]
    place: Place | None


@dataclass(frozen=True)
class GuardSet:
    """The guards of one cache entry."""

    compile_id: CompileId | None
    guards: tuple[Guard, ...]


class Instruction(NamedTuple):
    """A bytecode instruction of the Python that ran the program. `jump` is the offset jumped to."""

    offset: int
    opcode: str
    argument: str
    line: int | None
    jump: int | None


@dataclass(frozen=True)
class Bytecode:
    """A frame before and after Dynamo. `source` holds the text of the lines it comes from."""

    compile_id: CompileId | None
    name: str
    qualified_name: str
    place: Place
    fingerprint: str
    source: dict[int, str]
    original: tuple[Instruction, ...]
    modified: tuple[Instruction, ...]


@dataclass(frozen=True)
class ResumeFunction:
    """A global `__resume_at_<offset>_<n>`, the code it runs, and the frame whose break made it."""

    name: str
    code_name: str
    fingerprint: str
    made_by: CompileId | None


@dataclass(frozen=True)
class CaptureDecision:
    """Whether we compiled the program ("capture") or only watched it ("observe"), and why."""

    decision: str
    because: str | None
    policy: str
    backend: str
    fallback_random: bool


@dataclass
class Process:
    """What one process recorded, in the order in which it happened.

    A forked child may call graphs that its parent compiled: those calls are the inherited ones.
    """

    stream: Path
    info: dict[str, Any] = field(default_factory=dict)
    torch_version: str | None = None
    captures: list[CaptureDecision] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    graphs: list[Graph] = field(default_factory=list)
    breaks: list[GraphBreak] = field(default_factory=list)
    compiles: list[Compile] = field(default_factory=list)
    guard_sets: list[GuardSet] = field(default_factory=list)
    bytecodes: list[Bytecode] = field(default_factory=list)
    resume_functions: list[ResumeFunction] = field(default_factory=list)
    break_explanations: dict[tuple[CompileId | None, Place], BreakExplanation] = field(default_factory=dict)
    failed_probes: dict[str, str] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)
    end: dict[str, Any] | None = None
    inherited_calls: int = 0
    inherited_seconds: float = 0.0
    damaged_records: int = 0
    lost_records: int | None = None
    last_errno: int = 0
    record_counts: dict[str, int] = field(default_factory=dict)

    @property
    def capture(self) -> CaptureDecision | None:
        """The last word on whether we compiled the program or only watched it."""
        return self.captures[-1] if self.captures else None

    @property
    def capture_began(self) -> bool:
        """Whether we compiled any of it ourselves."""
        return bool(self.frames) and any(decision.decision == "capture" for decision in self.captures)

    @property
    def lacks_last_record(self) -> bool:
        """Whether the process ended without our last record: killed, or by os._exit, as forked workers do."""
        return self.is_ours and self.end is None and not self.info.get("forked")

    @property
    def is_ours(self) -> bool:
        """Whether our probes ran here; False for a plain TORCH_TRACE log."""
        return bool(self.info)

    @property
    def compiled_graphs(self) -> list[Graph]:
        """The graphs that torch's `unique_graphs` counts: handed over, and taken by the backend."""
        return [graph for graph in self.graphs if graph.is_compiled and not graph.is_specialization]

    @property
    def counted_frames(self) -> list[Frame]:
        """The frames that torch's `counters["frames"]["total"]` counts."""
        return [frame for frame in self.frames if not frame.is_whole_graph]

    @property
    def recompiles(self) -> list[Compile]:
        """The compiles that replaced or joined an earlier one because a guard failed."""
        return [compile_ for compile_ in self.compiles if compile_.recompile_reason is not None]


@dataclass
class Recording:
    """A whole recording. `run` is None for a torch trace that is not ours."""

    path: Path
    run: dict[str, Any] | None
    processes: list[Process]
    python_processes: int | None
    engine_failures: list[str]

    @property
    def problems(self) -> list[str]:
        """What the tool could not see, and why: one sentence each."""
        found = [f"the engine could not start: {failure}" for failure in self.engine_failures]
        for process in self.processes:
            where = f"process {process.info.get('pid', process.stream.name)}"
            found += [f"{where}: no {probe} ({why})" for probe, why in process.failed_probes.items()]
            if process.lacks_last_record:
                found.append(f"{where}: no totals of torch at its end, which was abrupt")
            if process.lost_records:
                found.append(f"{where}: {process.lost_records} records could not be written")
            if process.damaged_records:
                found.append(f"{where}: {process.damaged_records} damaged records were skipped")
            if process.info.get("calls_not_recorded"):
                found.append(f"{where}: no graph calls ({process.info['calls_not_recorded']})")
        return found

    @property
    def is_partial(self) -> bool:
        """Whether the run is still going on or was cut off before our last word."""
        if self.run is None:
            return False
        if self.run.get("ended_ns") is None or self.run.get("signal") is not None:
            return True
        return any(
            process.damaged_records or process.lost_records or process.lacks_last_record
            for process in self.processes
        )
