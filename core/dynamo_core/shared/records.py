"""Our records (`our_record.py`), except those without a compile (`early_records.py`) and of exports."""

from typing import Annotated, Any, Literal

from . import names
from .our_record import OurRecord

Answer = Literal["eager", "compiled", "expected"]
VerifyOutcome = Literal["agrees", "disagrees", "not comparable", "not verified"]
ProgramOutcome = Literal["agrees", "disagrees", "not comparable", "not compared"]


class StepMarksKept(OurRecord):
    """The page of the counters file with the begins of steps; noting one costs the program `ns_each`."""

    NAME = names.STEP_MARKS

    calls_index: int
    ns_each: float


class CallsAtLimit(OurRecord):
    """How many calls, so far, ran eager because their frame had reached torch's recompile limit."""

    NAME = names.CALLS_AT_LIMIT

    times: int


class FrameTried(OurRecord):
    """A frame that Dynamo tried, and the outcome.

    `ok` is as torch counts it; `limit` and `is_exit` mark errors that are not Dynamo's; `broke` and `stopped`
    have the fields of a graph break; `called_from` and `compiled_by` are lines of the user's. `compile_call`
    numbers the calls of torch.compile, of which there were `calls_of_line` on that line so far. `line` is the
    first line of the code, `def_line` that of the `def`, where decorators stand above it.
    """

    NAME = names.FRAME

    name: str
    file: str
    line: int
    outcome: str
    reason: str | None
    ok: bool
    whole_graph: bool
    def_line: int | None = None
    method: str | None = None
    limit: str | None = None
    is_exit: bool = False
    broke: dict[str, Any] | None = None
    stopped: dict[str, Any] | None = None
    called_from: dict[str, Any] | None = None
    compiled_by: dict[str, Any] | None = None
    compile_call: int | None = None
    calls_of_line: int | None = None
    inference_mode: bool | None = None
    thread: str | None = None
    ended_ns: int | None = None
    ns: int | None = None


class GraphCompiled(OurRecord):
    """A backend has compiled a graph. `calls_index` is its page of counters; None: calls are not counted.

    `method` is that of the frame, as in FrameTried, whose record comes only when the frame is done.
    """

    NAME = names.GRAPH_COMPILED

    graph: int
    name: str | None
    backend_ns: int
    calls_index: int | None
    specialization: bool = False
    method: str | None = None


class GraphTaken(OurRecord):
    """Which backend of a chain took a graph, which one it chose in turn, and why those before it declined."""

    NAME = names.GRAPH_TAKEN

    graph: int | None
    by: str | None
    using: str | None
    declined: list[dict[str, str]]


class GraphBroke(OurRecord):
    """A graph break: torch's reason, the user's stack, and the lines around its last line, by number."""

    NAME = names.GRAPH_BREAK

    reason: str
    user_stack: list[dict[str, Any]]
    around: dict[Any, str] | None = None
    grad_enabled: bool | None = None


class BackwardCompiled(OurRecord):
    """A backward graph was compiled; its calls are counted on this page of the counters file."""

    NAME = names.BACKWARD_COMPILED

    calls_index: int


class ResumeFunctionMade(OurRecord):
    """Dynamo made a global `__resume_at_<offset>_<n>`, for code of this name and fingerprint."""

    NAME = names.RESUME_FUNCTION

    name: str
    code_name: str
    fingerprint: str


class FunctionsTraced(OurRecord):
    """The functions that took Dynamo longest to trace, and the totals of the others."""

    NAME = names.TRACING_TIME

    functions: list[dict[str, Any]]
    others: dict[str, int]


class LinesTraced(OurRecord):
    """The file and the lines, by number, of functions of the program that were traced for the first time."""

    NAME = names.LINES_TRACED

    functions: list[dict[str, Any]]


class GuardsMade(OurRecord):
    """The guards of a cache entry."""

    NAME = names.GUARDS

    guards: list[dict[str, Any]]


class NotebookCell(OurRecord):
    """The file name under which IPython compiles the cell with this execution number."""

    NAME = names.NOTEBOOK_CELL

    file: str
    number: int


class ChangedSetting(OurRecord):
    """The effect of a `--config`: the setting's value before and after it, or why it was not set."""

    NAME = names.CONFIG_CHANGED

    change: Annotated[str, "as --config has it"]
    was: str | None = None
    now: str | None = None
    problem: Annotated[str | None, "why it was not set; null where it was"] = None


class FreezeNoted(OurRecord):
    """Whether --freeze-after has frozen compiling, at `at_ns`.

    `calls` had been counted, or `seconds` had passed since the last compile; None where the option was not
    about that, or named several functions.
    """

    NAME = names.FROZEN

    frozen: bool
    calls: int | None
    seconds: float | None
    at_ns: int


class FrameNotCompiled(OurRecord):
    """A frame that was not compiled after the freeze, for these reasons; None: for further reasons.

    `came` has the actual value for each guard, where its reason does not name the value and it is known;
    `called_from` is the user's line that first called the frame so.
    """

    NAME = names.NOT_COMPILED

    times: int
    name: str | None = None
    file: str | None = None
    line: int | None = None
    reasons: list[str] | None = None
    came: list[str | None] | None = None
    method: str | None = None
    called_from: dict[str, Any] | None = None


class OverrideApplied(OurRecord):
    """Arguments of a call of torch.compile were replaced, or the backend of a compile.

    `replaced` are rows of an argument's name, and its value before and after.
    """

    NAME = names.OVERRIDE

    times: int
    overrides: list[str] | None = None
    of: str | None = None
    file: str | None = None
    line: int | None = None
    replaced: list[list[str]] | None = None


class SemanticsNoted(OurRecord):
    """What torch.compile would have changed in a graph or a frame, and what the program got instead.

    `outputs` and `inputs` are names in the graph; `compiled` and `eager` are the results of either side.
    """

    NAME = names.SEMANTICS

    graph: int | None
    kind: str
    answered: Answer
    file: str | None = None
    line: int | None = None
    outputs: list[str] | None = None
    inputs: list[str] | None = None
    compiled: str | None = None
    eager: str | None = None


class CachesInUse(OurRecord):
    """Where torch's compile caches are and which are on; written again when the program changes that.

    `held_graphs` says whether Inductor's folder had compiled graphs before this process used it, `free_bytes`
    is the free space of its disk, `filesystem` the kind of file system (`tmpfs`, `overlay`, ...). `switches`
    are torch's settings, by name, as `repr`. Inductor has its precompiled C++ header in a folder that no
    variable names. A field whose value could not be determined is None.
    """

    NAME = names.CACHES

    folder: str
    triton_folder: str | None
    held_graphs: bool | None
    is_writable: bool | None
    free_bytes: int | None
    filesystem: str | None
    in_container: bool
    switches: dict[str, str]
    header_folder: str | None = None
    held_header: bool | None = None


class CacheBypassedBy(OurRecord):
    """The operator for which a cache does not take a graph, as torch names it, and the user's line of it."""

    NAME = names.CACHE_BYPASSED_BY

    operator: str
    line: dict[str, Any] | None


class CacheKeyParts(OurRecord):
    """The parts of AOTAutograd's cache key of a compile, where torch's own trace does not have them.

    Listing them took `seconds`.
    """

    NAME = names.CACHE_KEY_PARTS

    key: str
    parts: list[str]
    seconds: float


class WindowNoted(OurRecord):
    """`--profile`: the window of torch.profiler has opened, has a trace, or has ended.

    Records of the `kind` `opened` have in `what` which trace is to be recorded: `times`, or `lines` and
    memory. The records of these kinds follow: `file` is the trace, unless there is an `error`; its steps
    begin with the calls of the graph `anchor`, and the first `warm_up_steps` do not count. The `end` has
    `why_none` and `why_no_lines`. `own_ns` is the time that profiling has taken so far.
    """

    NAME = names.PROFILE_WINDOW

    kind: str
    own_ns: int | None = None
    what: str | None = None
    anchor: int | None = None
    file: str | None = None
    error: str | None = None
    warm_up_steps: int | None = None
    is_last_step_whole: bool | None = None
    compiles: int | None = None
    has_device: bool | None = None
    has_memory: bool | None = None
    has_lines: bool | None = None
    can_mark_lines: bool = True
    begin_ns: int | None = None
    end_ns: int | None = None
    why_none: str | None = None
    why_no_lines: str | None = None
    cuda_graphs: dict[str, int] | None = None


class CallVerified(OurRecord):
    """`--verify`: the outcome of one call that was to be compared with eager.

    `why` says why it was not compared; `compared` counts values, and `worst` is the value nearest to its
    limit, or furthest beyond it. `node` is the first wrong node, or `node_unknown` says why it is not known.
    """

    NAME = names.VERIFIED

    graph: int
    call: int
    outcome: VerifyOutcome
    why: str | None
    compared: int
    against_float64: int
    gradients: str | None
    worst: dict[str, Any] | None
    first_wrong: dict[str, Any] | None
    node: dict[str, Any] | None
    node_unknown: str | None
    ns: int


class ProgramCallVerified(OurRecord):
    """`--verify`: the outcome of one call of what the program compiled, compared with plain Python.

    `file` and `line` are those of the call of torch.compile. `kind` is what is wrong (value, structure,
    dtype, stride, aliasing, mutation, exception, gradient, random, output), `path` where, and `stage` where
    in the compiler it is wrong first. `differences` counts what differs; `gradients` says whether those were
    compared, `left_out` which values were not, `undeclared` what the operation does that it does not declare.
    """

    NAME = names.PROGRAM_CALL_VERIFIED

    name: str
    file: str
    line: int
    function_file: str | None
    function_line: int | None
    call: int
    outcome: ProgramOutcome
    ns: int
    why: str | None = None
    compared: int = 0
    gradients: str | None = None
    kind: str | None = None
    path: str | None = None
    detail: str | None = None
    error: float | None = None
    allowed: float | None = None
    differences: int = 0
    left_out: str | None = None
    stage: str | None = None
    wrong_file: str | None = None
    wrong_line: int | None = None
    operation: str | None = None
    undeclared: str | None = None


class HooksNotCalled(OurRecord):
    """Hooks that `line` put on modules of `graphs` after these were compiled, so that no call called them.

    `what` they are ("forward hook", …), on modules of these `classes`. `left_out` is how often a graph was
    called while one was in place, of all hooks together.
    """

    NAME = names.HOOKS_NOT_CALLED

    line: dict[str, Any]
    what: str
    classes: list[str]
    graphs: list[int]
    hooks: int
    left_out: int


class GraphHandedOver(OurRecord):
    """A graph that Dynamo hands to its backend.

    `key` identifies what it computes (`graph_key.py`), `modes` are torch's settings that matter to that;
    `trains` says whether it is compiled for training. `order` is `graph_key.OrderOfGraph`. `custom_operators`
    have the file and line of each, `loop` is the loop that Dynamo unrolled, `drawn_for_numpy` a line that
    draws NumPy's random numbers. A node has its op, name, target, arguments as text, the names of its inputs,
    and what is known of its value.
    """

    NAME = names.FX_GRAPH
    LISTS = ("nodes",)

    graph: int
    name: str | None
    backend: str
    ops: int
    optimizer_steps: Any = None
    key: str | None = None
    trains: bool | None = None
    modes: dict[str, Any] | None = None
    threads: int | None = None
    custom_operators: dict[str, Any] | None = None
    loop: dict[str, Any] | None = None
    drawn_for_numpy: dict[str, Any] | None = None
    handed_over_ns: int | None = None
    order: Any = None
    nodes: list[Any] | None = None


class FrameRewritten(OurRecord):
    """The bytecode of a compiled frame before and after Dynamo, and the text of its lines, by number.

    An instruction is [offset, opcode, argument, line, jump target or null].
    """

    NAME = names.BYTECODE
    LISTS = ("original", "modified")

    name: str
    qualified_name: str
    file: str
    first_line: int
    fingerprint: str
    source: dict[Any, str]
    original: list[list[Any]] | None = None
    modified: list[list[Any]] | None = None


class GraphsPaired(OurRecord):
    """How a forward graph and its backward relate; made by `aot_pair.py`.

    `graph` is the number of Dynamo's graph; None where the pair was read from torch's own texts.
    """

    NAME = names.AOT_PAIR

    graph: int | None
    joint: dict[str, int] | None
    forward: dict[str, int]
    backward: dict[str, int]
    inputs: int
    outputs: int
    tangents: int
    gradients: int
    saved: list[dict[str, Any]]
    recomputed: dict[str, int]
