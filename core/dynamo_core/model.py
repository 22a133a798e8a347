"""What happened in a run, as plain data: the language that the reader and the reporters share.

The words are PyTorch's own (frame, compile id, graph, graph break, resume function, guard, recompile). A
value that was not recorded is None, never 0. Counts belong to one process; `Recording` adds them up.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple


class CompileId(NamedTuple):
    """torch's `0/1`: which frame, and which compile of it, both from 0.

    Compiled autograd puts its own number in front (`!2/0/1`), and compiles graphs of no frame (`!2`). After
    `torch._dynamo.reset()` torch's ids begin anew; `generation` tells them apart, and is not shown.
    Source: torch/_guards.py (CompileId.__str__), 2.8 to 2.15.
    """

    frame: int | None
    compile: int | None
    autograd: int | None = None
    generation: int = 0

    def __str__(self) -> str:
        parts = [] if self.autograd is None else [f"!{self.autograd}"]
        if self.frame is not None:
            parts += [str(self.frame), str(self.compile)]
        return "/".join(parts)


class Place(NamedTuple):
    """A line of the user's program."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class StackFrame(NamedTuple):
    """A line of a user's stack: where, in which function, and its text if known."""

    place: Place
    function: str
    text: str


_RESUME_FUNCTION = re.compile(r"torch_dynamo_resume_in_(.+)_at_(\d+)$")


def resumed_function(name: str | None) -> tuple[str, int] | None:
    """The function that a resume function is the rest of, and the line it broke at; None for other frames.

    Source: torch/_dynamo/resume_execution.py (TORCH_DYNAMO_RESUME_IN_PREFIX), 2.8 to 2.15.
    """
    found = _RESUME_FUNCTION.match(name) if name else None
    return (found[1], int(found[2])) if found else None


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
    """A node of an FX graph. `tensors` has one entry for a tensor, several for a tuple of them.

    `inputs` names the nodes that it reads; `source` says where the frame finds a placeholder's value.
    """

    op: str
    name: str
    target: str
    args: str
    kwargs: str
    inputs: tuple[str, ...] = ()
    tensors: tuple[TensorInfo, ...] = ()
    symbol: str | None = None
    source: str | None = None
    is_parameter: bool = False
    place: Place | None = None


class CallSample(NamedTuple):
    """One call of a compiled graph: which (from 1), when (nanoseconds since the epoch), how long.

    `since_previous` is the time since the call before it, of the callable with index `previous`, had ended;
    None where that is not known, or something was compiled in between.
    """

    number: int
    began_ns: int
    seconds: float
    since_previous: float | None = None
    previous: int | None = None


@dataclass(frozen=True)
class CallTimes:
    """The calls of a compiled graph, or of its backward, in the host's time.

    `histogram` counts them by duration: (from, to) in nanoseconds. `early` are the first ones, `samples` some
    of all, evenly spread. `guard_seconds` is what evaluating the frame's guards took, on average, and
    `device_seconds` what a call took on the GPU's stream, on average over `device_samples` of them.
    """

    calls: int
    seconds: float
    histogram: Mapping[tuple[int, int], int]
    early: tuple[CallSample, ...]
    samples: tuple[CallSample, ...]
    guard_seconds: float | None
    device_seconds: float | None = None
    device_samples: int = 0

    @property
    def guard_seconds_in_all(self) -> float | None:
        """What the guards took for all calls; None where no evaluation was timed."""
        return None if self.guard_seconds is None else self.calls * self.guard_seconds

    def percentile(self, share: float) -> float | None:
        """Seconds below which this share (0 to 1) of the calls lies, to within 6 %; None without calls."""
        wanted = share * self.calls
        for (low, high), count in sorted(self.histogram.items()):
            wanted -= count
            if wanted <= 0:
                return (low + high) / 2e9
        return None


@dataclass(frozen=True)
class Import:
    """A module of the compiler's, and from when to when it was imported (nanoseconds since the epoch)."""

    module: str
    began_ns: int
    ended_ns: int


@dataclass(frozen=True)
class Timeline:
    """When a process began and what it did before its work: nanoseconds since the epoch, None if unknown.

    `armed_ns` is just before the program's first line, `ready_ns` when our probes were in place.
    """

    began_ns: int | None
    armed_ns: int | None
    torch_began_ns: int | None
    torch_ended_ns: int | None
    ready_ns: int | None


@dataclass(frozen=True)
class GraphModes:
    """Settings of torch under which a graph was compiled, and without which it computes something else.

    `autocast` has the dtype of each type of device for which it was on. None is not recorded.
    """

    grad_enabled: bool
    autocast: Mapping[str, str]
    float32_matmul_precision: str | None
    default_dtype: str | None = None


class DeclinedBy(NamedTuple):
    """A backend that did not take a graph, and why."""

    backend: str
    reason: str


@dataclass(frozen=True)
class Taking:
    """Which backend of those that were named took a graph, and those asked before it.

    `by` is None where none did: the graph runs eager, or with --strict was an error. `using` is the backend
    that one which chooses among others (`autotuned`) chose.
    """

    by: str | None
    using: str | None
    declined: tuple[DeclinedBy, ...]


@dataclass
class Graph:
    """A graph that Dynamo handed to a backend. `number` counts from 1 within the process.

    `calls` and `host_seconds` (time inside the compiled callable, as the host saw it) are None where they
    could not be counted. `nodes` and `code` (the readable module) are None where they were not recorded or
    not asked for. `times` has more on the calls, and `backward` has those of the backward graph, where its
    backend is Inductor. `ops` is the number of `call_*` nodes, which is what Dynamo counts as ops. A
    specialization is a further compile of a graph that counts already. `key` names what the graph computes
    (`graph_key.py`), `trains` says whether gradients can be asked for, `threads` is torch's number of them.
    `optimizer_steps` are the files of the optimizers whose step is in it; None where that was not recorded.
    `taking` is None where torch gave the graph to the only backend, or that was not recorded.
    """

    number: int
    compile_id: CompileId | None
    attempt: int
    name: str | None
    backend: str | None
    ops: int | None
    nodes: tuple[Node, ...] | None = None
    code: str | None = None
    frame_name: str | None = None
    frame_place: Place | None = None
    is_compiled: bool = False
    is_specialization: bool = False
    backend_seconds: float | None = None
    calls_index: int | None = None
    calls: int | None = None
    host_seconds: float | None = None
    times: CallTimes | None = None
    backward_index: int | None = None
    backward: CallTimes | None = None
    key: str | None = None
    trains: bool | None = None
    modes: GraphModes | None = None
    threads: int | None = None
    optimizer_steps: tuple[str, ...] | None = None
    taking: Taking | None = None


@dataclass(frozen=True)
class SavedTensor:
    """A value that a forward graph saves for its backward.

    `kind` says where its memory comes from: input (of the forward, a parameter among them), output (which the
    user is given too), or activation. `storage` names the node that made the memory. Bytes are those of the
    elements, for symbolic sizes with the values that it was compiled with; None where they are not known.
    `tensor` is None for a size, of which `symbol` is the expression, and for other values.
    """

    name: str
    kind: str
    operator: str | None
    tensor: TensorInfo | None
    symbol: str | None
    bytes: int | None
    storage: str
    storage_bytes: int | None
    place: Place | None

    @property
    def has_symbolic_size(self) -> bool:
        """Whether its size depends on what the graph is called with."""
        return self.tensor is not None and any(isinstance(size, str) for size in self.tensor.shape)


@dataclass(frozen=True)
class AotPair:
    """The forward and backward graph that AOTAutograd made of a graph of Dynamo's, or of a part of it.

    Operators are counted by name (`aten.mm`). `inputs` and `outputs` are the forward's own, without what is
    saved; `tangents` and `gradients` those of the backward. `recomputed` are operators of the forward that
    the backward computes again, views aside. `graph` is None where the graph's number was not recorded.
    """

    compile_id: CompileId | None
    attempt: int
    graph: int | None
    joint: Mapping[str, int] | None
    forward: Mapping[str, int]
    backward: Mapping[str, int]
    inputs: int
    outputs: int
    tangents: int
    gradients: int
    saved: tuple[SavedTensor, ...]
    recomputed: Mapping[str, int]


@dataclass(frozen=True)
class Optimizer:
    """A class of optimizers that the program made one of, and the file that its `step` is written in."""

    name: str
    module: str
    file: str


@dataclass(frozen=True)
class Frame:
    """One attempt of Dynamo at a frame. `outcome`: compiled, skipped, failed (then eager), raised (an error
    in the program).

    `ok` is what torch's `counters["frames"]["ok"]` counts. Frames of `fullgraph=True` are not in it.
    `explanation` has torch's words on what made Dynamo give up, `broke` the break that it raised as an error,
    where none was allowed.
    """

    name: str
    place: Place
    outcome: str
    reason: str | None
    ok: bool
    is_whole_graph: bool
    compile_id: CompileId | None
    explanation: "BreakExplanation | None" = None
    broke: "GraphBreak | None" = None
    ended_ns: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class BreakExplanation:
    """torch's own words on a break. `registry_id` (GBnnnn) and `link` lead to its page there."""

    place: Place
    kind: str
    explanation: str | None
    hints: tuple[str, ...]
    registry_id: str | None
    link: str | None = None


@dataclass(frozen=True)
class GraphBreak:
    """A break as Dynamo counts them. `stack` is the user's, from the compiled frame to the line that broke.

    `callers` leads to the compiled frame, outermost first; empty where it was not recorded. `around` has the
    text of the lines next to the one that broke, by number.
    """

    reason: str
    stack: tuple[StackFrame, ...]
    compile_id: CompileId | None
    explanation: BreakExplanation | None = None
    callers: tuple[StackFrame, ...] = ()
    around: Mapping[int, str] = field(default_factory=dict)

    @property
    def place(self) -> Place | None:
        """Where the graph broke."""
        return self.stack[-1].place if self.stack else None

    @property
    def kind(self) -> str:
        """What to call the break: torch's name for its kind, or the first line of the raw reason."""
        return self.explanation.kind if self.explanation else self.reason.partition("\n")[0]


@dataclass(frozen=True)
class Compile:
    """One compilation metrics record: a frame compiled (or not), or a backward graph.

    `restart_reasons` says why the analysis began again, which cost `seconds_before_restart`.
    """

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
    restart_reasons: tuple[str, ...] = ()
    seconds_before_restart: float | None = None


@dataclass(frozen=True)
class GuardFailure:
    """Why a cache entry could not be used: the check that failed, in torch's words and in parts.

    `kind` says what differed: size, stride, rank, dtype, requires_grad, dispatch keys, device, length, type,
    identity, freed object, global state, attribute, dictionary, relation of sizes, value, other. `index` is
    the dimension.
    """

    entry: CompileId | None
    check: str
    kind: str
    source: str | None
    index: int | None
    expected: str | None
    actual: str | None
    user_code: str | None
    place: Place | None
    hint: str | None


@dataclass(frozen=True)
class RecompileReasons:
    """Why each cache entry that a frame had could not be used, before it was compiled as `compile_id`."""

    compile_id: CompileId | None
    failures: tuple[GuardFailure, ...]


@dataclass(frozen=True)
class Freeze:
    """Whether --freeze-after came to pass, by `at_ns` (since the epoch).

    By then so many calls had counted, or so many seconds had passed since the last compile; None where that
    is not what it was about.
    """

    frozen: bool
    calls: int | None
    seconds: float | None
    at_ns: int


@dataclass(frozen=True)
class NotCompiled:
    """A frame that ran eager, or raised, because it would have been compiled after the freeze.

    `reasons` are as torch words them, one for each cache entry, the newest first. `times` is how often it was
    met for them, or for others that are not told (None); all but `reasons` and `times` is None for what is
    told of no frame. In a process that was killed, `times` may be up to twice that.
    """

    name: str | None
    place: Place | None
    reasons: tuple[str, ...] | None
    failures: tuple[GuardFailure, ...]
    times: int


class Replaced(NamedTuple):
    """An argument of torch.compile, and its value before and after it was replaced."""

    argument: str
    was: str
    now: str


@dataclass(frozen=True)
class AppliedOverride:
    """Arguments that were replaced in a call of torch.compile at `place`, or the backend of a compile.

    `overrides` are those that asked for it, none where --fullgraph did; `of` names what was compiled.
    """

    overrides: tuple[str, ...]
    of: str | None
    place: Place | None
    compile_id: CompileId | None
    replaced: tuple[Replaced, ...]
    times: int


# What can come of a call that --verify is to compare with eager.
AGREES, DISAGREES, NOT_COMPARABLE, NOT_VERIFIED = "agrees", "disagrees", "not comparable", "not verified"
VERIFY_OUTCOMES = (AGREES, DISAGREES, NOT_COMPARABLE, NOT_VERIFIED)


@dataclass(frozen=True)
class ComparedValue:
    """A value beside eager's: how far it is from `against` ("float64" or "eager"), and how far it may be.

    Both at the element that is nearest to the limit, or furthest beyond it; None where `detail` says why.
    """

    name: str
    error: float | None
    allowed: float | None
    against: str
    detail: str | None


@dataclass(frozen=True)
class WrongNode:
    """The first node of a graph whose value disagrees with eager."""

    name: str
    target: str
    place: Place | None
    value: ComparedValue | None


@dataclass(frozen=True)
class VerifiedCall:
    """A call of a compiled graph beside eager. `call` counts from 1; `compared` is the number of values.

    `why` says why nothing was compared, `gradients` whether they were, or why not (None: there are none),
    `node_unknown` why the wrong node is not known. `worst` is the value nearest to its limit.
    """

    graph: int
    call: int
    outcome: str
    why: str | None
    compared: int
    against_float64: int
    gradients: str | None
    worst: ComparedValue | None
    first_wrong: ComparedValue | None
    node: WrongNode | None
    node_unknown: str | None
    seconds: float


@dataclass(frozen=True)
class Symbol:
    """A size or number that Dynamo left open in a compile. `hint` is the value that it met."""

    compile_id: CompileId | None
    name: str
    hint: str
    source: str
    place: Place | None


@dataclass(frozen=True)
class Stage:
    """The text of a graph, or of the code made from it, at a stage of a compile. `name` is the record's."""

    name: str
    compile_id: CompileId | None
    text: str
    file: str | None = None


@dataclass(frozen=True)
class CacheLookup:
    """One look-up of a compile in a cache of torch's: hit, miss or bypass."""

    cache: str
    outcome: str
    compile_id: CompileId | None


@dataclass(frozen=True)
class Phase:
    """A span that torch timed, and those in it. `name` is torch's, `function` what it says was called.

    Times are the clock's, in ns since the epoch. `end_ns` is None where no end was recorded: a kill, or an
    error in older torch. `cache_state` is what the look-up that it began with came to.
    """

    name: str
    begin_ns: int
    end_ns: int | None
    compile_id: CompileId | None
    function: str | None = None
    is_backward: bool | None = None
    cache_state: str | None = None
    children: "tuple[Phase, ...]" = ()

    @property
    def last_ns(self) -> int:
        """Its end, or the last that is known of it."""
        if self.end_ns is not None:
            return self.end_ns
        return max((child.last_ns for child in self.children), default=self.begin_ns)


@dataclass(frozen=True)
class TracedFunction:
    """What Dynamo spent in one attempt on tracing a function, with what it calls and without.

    A recursion's inclusive time counts once; a generator is called each time it is resumed. The costliest
    functions are named; the `functions` others of an attempt are one entry without a name.
    """

    compile_id: CompileId | None
    attempt: int
    name: str | None
    place: Place | None
    calls: int
    exclusive_seconds: float
    inclusive_seconds: float | None
    functions: int = 1


@dataclass(frozen=True)
class Guard:
    """A condition under which a cache entry may be used."""

    type: str
    source: str
    scope: str | None
    code: tuple[str, ...]
    place: Place | None


@dataclass(frozen=True)
class GuardCheck:
    """A leaf of torch's guard tree: one check that is evaluated before the cache entry runs.

    `code` is torch's text of it. `user_code` is the line that caused it, `place` where that is; torch may cut
    the file's name short at the front.
    """

    type: str
    source: str
    code: str
    user_code: str | None
    place: Place | None
    function: str | None


@dataclass
class GuardSet:
    """The guards of one cache entry, as Dynamo asked for them (`guards`) and as they are checked (`checks`).

    Either is None where it was not recorded or not asked for. `latency_us` is torch's own measurement of one
    evaluation, in microseconds.
    """

    compile_id: CompileId | None
    guards: tuple[Guard, ...] | None = None
    checks: tuple[GuardCheck, ...] | None = None
    latency_us: float | None = None


class Instruction(NamedTuple):
    """A bytecode instruction of the Python that ran the program. `jump` is the offset jumped to."""

    offset: int
    opcode: str
    argument: str
    line: int | None
    jump: int | None


@dataclass(frozen=True)
class Bytecode:
    """A frame before and after Dynamo. `source` holds the text of the lines it comes from.

    The instructions are empty where they were not asked for.
    """

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
    """Whether we compiled the program ("capture") or only watched it ("observe"), and why.

    With `raises`, an error in the compiler reaches the program, as where that compiles for itself.
    """

    decision: str
    because: str | None
    policy: str
    backend: str
    fallback_random: bool
    raises: bool = False


class GraphPart(NamedTuple):
    """A graph's forward or its backward. `graph` is None where it is not known which graph's it is."""

    graph: int | None
    is_backward: bool


@dataclass(frozen=True)
class WindowPart:
    """What one part of a graph did in the window.

    `seconds` are the host's, without other parts that it called; `operator_seconds` is what of them torch's
    profiler could give to operators. `extra_bytes` is by device: the most memory that one call held beyond
    what was allocated as it began; None where allocations were not recorded.
    """

    part: GraphPart
    calls: int
    seconds: float
    operator_calls: int
    operator_seconds: float
    kernels: int
    kernel_seconds: float
    cuda_graph_launches: int
    extra_bytes: dict[str, int] | None


@dataclass(frozen=True)
class WindowOperator:
    """An operator in one part of a graph, or outside of all (`part` is None). `seconds` are its own alone."""

    name: str
    part: GraphPart | None
    calls: int
    seconds: float
    total_seconds: float


@dataclass(frozen=True)
class EagerOperator:
    """An operator called outside of graphs and of other operators, at one line (None: not recorded).

    `seconds` are the host's, with all that it called; `kernel_seconds` those of the kernels that it launched.
    """

    name: str
    place: Place | None
    calls: int
    seconds: float
    kernel_seconds: float


@dataclass(frozen=True)
class WindowKernel:
    """A kernel, or a copy, on a device. `bytes` is what torch says it moved; None where it does not.

    `nodes` and `places` are what Inductor's code says it was made of, and the lines of those nodes.
    """

    name: str
    part: GraphPart | None
    device: str
    calls: int
    seconds: float
    bytes: int | None
    nodes: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()


@dataclass(frozen=True)
class ProfileWindow:
    """What torch's profiler saw in a window of steady steps: from calls of `anchor`, a graph, to its next.

    `compiles` were made while it was open, which should be none. `kernels` is None where no device was used
    as the window opened. `lines_problem` says why lines or memory are missing.
    """

    anchor: int
    steps: int
    seconds: float
    begin_ns: int
    end_ns: int
    compiles: int
    parts: tuple[WindowPart, ...]
    operators: tuple[WindowOperator, ...]
    eager: tuple[EagerOperator, ...]
    kernels: tuple[WindowKernel, ...] | None
    damaged_events: int
    lines_problem: str | None


@dataclass
class Process:
    """What one process recorded, in the order in which it happened.

    `parallel_phases` ran in other threads beside the compile that they name, and have no tree.
    A forked child may call graphs that its parent compiled: those calls are the `inherited` ones.
    `overlap_seconds` is in the calls' time more than once (calls inside calls, or on several threads at
    once), and in `compiling_in_calls_seconds` of it Dynamo was at another frame. A part that was selected
    knows the `whole` that it is of. `profiler_seconds` went into starting and stopping
    torch.profiler, and writing what it saw. `step_marks` are the moments at which a step began, as calls that
    take no time, in a run of `dynamo bench`; noting one took `step_mark_seconds`.
    """

    stream: Path
    rank: int | None = None
    info: dict[str, Any] = field(default_factory=dict)
    torch_version: str | None = None
    captures: list[CaptureDecision] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    graphs: list[Graph] = field(default_factory=list)
    breaks: list[GraphBreak] = field(default_factory=list)
    compiles: list[Compile] = field(default_factory=list)
    recompile_reasons: list[RecompileReasons] = field(default_factory=list)
    freeze: Freeze | None = None
    not_compiled: list[NotCompiled] = field(default_factory=list)
    overrides: list[AppliedOverride] = field(default_factory=list)
    verified: list[VerifiedCall] = field(default_factory=list)
    symbols: list[Symbol] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    pairs: list[AotPair] = field(default_factory=list)
    optimizers: list[Optimizer] = field(default_factory=list)
    cache_lookups: list[CacheLookup] = field(default_factory=list)
    phases: list[Phase] = field(default_factory=list)
    parallel_phases: list[Phase] = field(default_factory=list)
    tracing: list[TracedFunction] = field(default_factory=list)
    guard_sets: list[GuardSet] = field(default_factory=list)
    bytecodes: list[Bytecode] = field(default_factory=list)
    resume_functions: list[ResumeFunction] = field(default_factory=list)
    callers: dict[CompileId | None, tuple[StackFrame, ...]] = field(default_factory=dict)
    failed_probes: dict[str, str] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)
    timeline: Timeline | None = None
    imports: list[Import] = field(default_factory=list)
    end: dict[str, Any] | None = None
    inherited: list[CallTimes] = field(default_factory=list)
    profiler_seconds: float | None = None
    overlap_seconds: float | None = None
    compiling_in_calls_seconds: float | None = None
    damaged_records: int = 0
    lost_records: int | None = None
    last_errno: int = 0
    record_counts: dict[str, int] = field(default_factory=dict)
    window: ProfileWindow | None = None
    window_problem: str | None = None
    cuda_graph_counters: dict[str, int] | None = None
    step_marks_index: int | None = None
    step_mark_seconds: float | None = None
    step_marks: CallTimes | None = None
    whole: "Process | None" = None

    @property
    def inherited_calls(self) -> int:
        """How often graphs of the parent's were called here."""
        return sum(times.calls for times in self.inherited)

    @property
    def inherited_seconds(self) -> float:
        """For how long, in all."""
        return sum(times.seconds for times in self.inherited)

    @property
    def entire(self) -> "Process":
        """The process with everything that it recorded, whatever was selected of it."""
        return self.whole or self

    @property
    def capture(self) -> CaptureDecision | None:
        """The last word on whether we compiled the program or only watched it."""
        return self.captures[-1] if self.captures else None

    @property
    def is_captured_now(self) -> bool:
        """Whether, as far as the records have been read, we compile the program."""
        return self.capture is not None and self.capture.decision == "capture"

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
