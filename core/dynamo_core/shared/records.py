"""Our records (`our_record.py`), but for those of a process, of a graph, and those that come early."""

from typing import Any, Literal

from . import names
from .our_record import OurRecord

Answer = Literal["eager", "compiled", "expected"]
VerifyOutcome = Literal["agrees", "disagrees", "not comparable", "not verified"]


class StepMarksKept(OurRecord):
    """The steps' beginnings are on this page of the counters; noting one costs the program `ns_each`."""

    NAME = names.STEP_MARKS

    calls_index: int
    ns_each: float


class CallsAtLimit(OurRecord):
    """So many calls have run eager by now of frames that torch refused to compile again, at its limit."""

    NAME = names.CALLS_AT_LIMIT

    times: int


class FrameTried(OurRecord):
    """A frame that Dynamo was given, and what became of it.

    `ok` is torch's word for it; `limit` and `is_exit` tell errors that are not Dynamo's; `broke` and
    `stopped` are as a graph break is recorded; `called_from` and `compiled_by` are lines of the user's.
    `line` is the code's first, `def_line` that of the `def`, where decorators stand above it.
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
    thread: str | None = None
    ended_ns: int | None = None
    ns: int | None = None


class GraphCompiled(OurRecord):
    """A backend has returned what stands for a graph; None for a page where calls are not counted."""

    NAME = names.GRAPH_COMPILED

    graph: int
    name: str | None
    backend_ns: int
    calls_index: int | None
    specialization: bool = False


class GraphTaken(OurRecord):
    """Which backend of a chain took a graph, by which means, and why those before it did not."""

    NAME = names.GRAPH_TAKEN

    graph: int | None
    by: str | None
    using: str | None
    declined: list[dict[str, str]]


class GraphBroke(OurRecord):
    """A graph break: torch's reason, the user's stack, and by its number each line around its last one."""

    NAME = names.GRAPH_BREAK

    reason: str
    user_stack: list[dict[str, Any]]
    around: dict[Any, str] | None = None
    grad_enabled: bool | None = None


class BackwardCompiled(OurRecord):
    """A backward graph was compiled, whose calls are on this page of the counters."""

    NAME = names.BACKWARD_COMPILED

    calls_index: int


class ResumeFunctionMade(OurRecord):
    """A global `__resume_at_<offset>_<n>` was made, for code of this name and fingerprint."""

    NAME = names.RESUME_FUNCTION

    name: str
    code_name: str
    fingerprint: str


class FunctionsTraced(OurRecord):
    """The functions that took Dynamo longest to trace, and the others together."""

    NAME = names.TRACING_TIME

    functions: list[dict[str, Any]]
    others: dict[str, int]


class GuardsMade(OurRecord):
    """The guards of a cache entry."""

    NAME = names.GUARDS

    guards: list[dict[str, Any]]


class NotebookCell(OurRecord):
    """IPython compiles the cell with this number of execution under this file name."""

    NAME = names.NOTEBOOK_CELL

    file: str
    number: int


class ConfigChanged(OurRecord):
    """What became of a `--config`: the setting's value before and after it, or why it was not set."""

    NAME = names.CONFIG_CHANGED

    change: str
    was: str | None = None
    now: str | None = None
    problem: str | None = None


class FreezeNoted(OurRecord):
    """Whether a freeze came, and at how many calls or seconds."""

    NAME = names.FROZEN

    frozen: bool
    calls: int | None
    seconds: float | None
    at_ns: int


class FrameNotCompiled(OurRecord):
    """A frame would have been compiled after the freeze, for these reasons; None for others than are told.

    `came` has the value that each guard was given, where its reason does not name it and it is known;
    `called_from` is the line of the user's that first called it so.
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

    `replaced` are an argument's name, and its value before and after.
    """

    NAME = names.OVERRIDE

    times: int
    overrides: list[str] | None = None
    of: str | None = None
    file: str | None = None
    line: int | None = None
    replaced: list[list[str]] | None = None


class SemanticsNoted(OurRecord):
    """What torch.compile would have changed of a graph, or of a frame, and what the program got instead.

    `outputs` and `inputs` are names in the graph; `compiled` and `eager` what either side did.
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
    """Where torch's compile caches are and which are on; written anew when the program changes that.

    `held_graphs` says whether Inductor's folder had compiled graphs before this process used it, `free_bytes`
    what its disk has left, `filesystem` what kind it is on (`tmpfs`, `overlay`, ...). `switches` are torch's
    settings, by name, as Python writes them. Inductor keeps the C++ header that it precompiles in a folder of
    its own, which no variable names. What could not be asked is None.
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


class CacheKeyParts(OurRecord):
    """What AOTAutograd's key of a compile is made of, a line a part, where torch's own trace leaves it out.

    Listing them took `seconds`.
    """

    NAME = names.CACHE_KEY_PARTS

    key: str
    parts: list[str]
    seconds: float


class ModulesCalled(OurRecord):
    """`dynamo export`: how many modules user code called, how many of them are not tried, and why not."""

    NAME = names.MODULES_CALLED

    modules: int
    left_out: int
    cannot_copy: str | None = None


class ModuleToExport(OurRecord):
    """A module that the program called, and what its calls were given, those of the first form.

    `inputs` are its tensors: `name`, `dtype`, and `sizes` as they were seen. `constants` are other values:
    `name`, and the `values` that were seen. `dynamic_shapes` is how torch.export takes the sizes that
    varied, as code; None where none did. `arguments` are those of the call, as code. `called_at` is a frame
    of the user's. `dataclasses` are types among the arguments that torch must be told of.
    """

    NAME = names.MODULE_TO_EXPORT

    name: str
    file: str | None
    line: int | None
    called_at: dict[str, Any] | None
    training: bool
    parameters: int
    calls: int
    other_forms: int
    inputs: list[dict[str, Any]]
    constants: list[dict[str, Any]]
    dynamic_shapes: str | None
    arguments: str
    dataclasses: list[str]


class ExportTried(OurRecord):
    """What came of one trial. `user_stack` and `around` are as for a graph break, where it failed.

    `obstacles` are what torch.export.draft_export lists: `kind`, `text`, `user_stack`. `saved` is the file; a
    trial that went well has an error where that could not be written.
    """

    NAME = names.EXPORT_TRIED

    kind: str
    is_dynamic: bool
    outcome: str
    seconds: float
    error: str | None = None
    error_kind: str | None = None
    user_stack: list[dict[str, Any]] | None = None
    around: dict[Any, str] | None = None
    obstacles: list[dict[str, Any]] | None = None
    saved: str | None = None


class ExportCompared(OurRecord):
    """The exported program beside eager, on inputs of these sizes.

    `outcome` is as for `--verify`, `why` says why nothing was compared, `compared` counts values, and `worst`
    is the one nearest to its limit, or furthest beyond it.
    """

    NAME = names.EXPORT_COMPARED

    sizes: dict[str, list[int]]
    outcome: str
    compared: int
    why: str | None = None
    worst: dict[str, Any] | None = None


class WindowNoted(OurRecord):
    """`--profile`: that the window of torch.profiler has opened, what was recorded in it, and how it ended.

    `what` is to be recorded once it has `opened`: `times`, or `lines` and memory. Of those, `file` is the
    trace, unless there is an `error`; its steps begin with the calls of the graph `anchor`, and the first
    `warm_up_steps` do not count. `why_none` and `why_no_lines` are said at the `end`. Until now our part has
    taken `own_ns`.
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
    """`--verify`: what came of one call that was to be compared with eager.

    `why` says why it was not; `compared` counts values, and `worst` is the one nearest to its limit, or
    furthest beyond it. `node` is the first that is wrong, or `node_unknown` why it is not named.
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


# Our records of what Dynamo and AOTAutograd made: graphs, bytecode, forward and backward.


class GraphHandedOver(OurRecord):
    """A graph as it is given to its backend.

    `key` is what it computes (`graph_key.py`), `modes` under which settings of torch's; `trains` says whether
    it is compiled to be differentiated. Its `order` is that of `collective_calls.py`. `custom_operators` have
    the file and line of each, `loop` what Dynamo unrolled. A node has its op, name, target, arguments as
    text, the names of its inputs, and of its value what is known.
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
    """What a forward graph and its backward have to do with each other; see `aot_pair.py`, which makes it.

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
