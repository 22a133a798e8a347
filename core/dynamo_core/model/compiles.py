"""Frames that Dynamo tried, their compiles, what each compile made, and what it spent its time on."""

from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple

from ..shared.quick_dataclass import dataclass
from .guards import BreakExplanation, GraphBreak
from .ids import CompileId, Place, StackFrame


@dataclass(frozen=True)
class Frame:
    """One attempt of Dynamo at a frame.

    `outcome` is compiled, skipped, failed (the frame then ran eager) or raised (an error in the program).
    `ok` is what torch's `counters["frames"]["ok"]` counts; frames of `fullgraph=True` are not in it.
    `explanation` is torch's explanation of why Dynamo fell back; `broke` is the break that it raised as an
    error, where none was allowed, and `stopped` a break whose error torch handled itself. `limit` is the
    option whose limit ended the attempt, with the details in `reason`. `called_from` is the line outside of
    torch that called the frame, `compiled_by` the line that called torch.compile. `method` names the module's
    method, also behind a wrapper, `GPT2Model.forward`, where that is known. `thread` is the name of its
    thread, if not the main one. `in_inference_mode` says whether it was called inside of
    `torch.inference_mode`, None where that was not recorded. `compile_call` is the number of the call of
    torch.compile, of which there were `calls_of_line` on its line so far. With `is_exit` there was no error:
    the compile was interrupted, by Ctrl-C or the program's own exit.
    """

    name: str
    place: Place
    outcome: Literal["compiled", "skipped", "failed", "raised"]
    reason: str | None
    ok: bool
    is_whole_graph: bool
    compile_id: CompileId | None
    explanation: BreakExplanation | None = None
    broke: GraphBreak | None = None
    stopped: GraphBreak | None = None
    method: str | None = None
    ended_ns: int | None = None
    seconds: float | None = None
    limit: str | None = None
    is_exit: bool = False
    called_from: StackFrame | None = None
    compiled_by: StackFrame | None = None
    thread: str | None = None
    in_inference_mode: bool | None = None
    compile_call: int | None = None
    calls_of_line: int | None = None


@dataclass(frozen=True)
class UnusedCompile:
    """A call of torch.compile, on `line`, whose result the program did not call, or only as plain Python.

    `why` is "never called", "force_eager" (the stance of all its calls) or "dispatch mode" (the first call
    was under one, on `line`); `function` names what was compiled, the class where it `is_module`.
    """

    function: str
    is_module: bool
    why: str
    line: StackFrame


@dataclass(frozen=True)
class HooksLeftOut:
    """Hooks that `line` put on modules after `graphs` with these were compiled, whose calls left them out.

    `what` they are ("forward hook", …), on modules of these `classes`; `hooks` of them, left out so many
    times in all.
    """

    line: StackFrame
    what: str
    classes: tuple[str, ...]
    graphs: tuple[int, ...]
    hooks: int
    left_out: int


@dataclass(frozen=True)
class Deferred:
    """A frame that ran eager, this many times, because compiling had exceeded the capture budget."""

    name: str
    place: Place
    times: int


@dataclass(frozen=True)
class Compiling:
    """A compile in progress, or one that was interrupted (by Ctrl-C, or the program's own exit).

    `backend` has had its `graph` since `backend_ns`. The `interrupted_` fields are known of an interrupted
    one.
    """

    compile_id: CompileId | None
    name: str | None
    place: Place | None
    began_ns: int
    is_backward: bool = False
    graph: int | None = None
    ops: int | None = None
    backend: str | None = None
    backend_ns: int | None = None
    interrupted_ns: int | None = None
    interrupted_by: str | None = None


@dataclass(frozen=True)
class Compile:
    """One compilation metrics record: a frame compiled (or not), or a backward graph.

    `restart_reasons` says why the analysis was restarted, which cost `seconds_before_restart`; `dynamic` is
    the argument of torch.compile, None where it was not given; `settings` are those of our advice that were
    set (`shared/settings.py`); `method` is as in `Frame`. A compile without a
    `recompile_reason` is known to be no recompile only with `tells_recompile`: metrics of older versions of
    torch have no such field. `failed_at` is the user's line at which a compile failed.
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
    dynamic: bool | None = None
    settings: tuple[str, ...] = ()
    method: str | None = None
    tells_recompile: bool = True
    failed_at: Place | None = None


@dataclass(frozen=True)
class Symbol:
    """A size or number that Dynamo made dynamic in a compile. `hint` is its value in that compile.

    `stack` leads from the compiled frame to its first use, at `place`.
    """

    compile_id: CompileId | None
    name: str
    hint: str
    source: Annotated[str, "what it is the size of"]
    place: Place | None
    stack: tuple[StackFrame, ...] = ()


@dataclass(frozen=True)
class Specialization:
    """A size or number that was to be dynamic in a compile, until a line needed its `value`.

    `stack` leads from the compiled frame to that line. `sources` are torch's names for it, as in `Symbol`.
    Where no line of the program did, `lowering` is what of Inductor's needed it, as `convolution_backward`.
    """

    compile_id: CompileId | None
    sources: tuple[str, ...]
    value: str
    stack: tuple[StackFrame, ...]
    lowering: str | None = None


@dataclass(frozen=True)
class Stage:
    """The text of a graph, or of code generated from it, at a stage of a compile; `name` is the record's."""

    name: str
    compile_id: CompileId | None
    text: str
    file: str | None = None


class Instruction(NamedTuple):
    """An instruction of a code object."""

    offset: Annotated[int, "in the code, in bytes"]
    opcode: Annotated[str, "its name in the Python that ran the program"]
    argument: Annotated[
        str, "what it stands for, as dis has it; a number where it is a count; empty where there is none"
    ]
    line: Annotated[
        int | None, "the source line it comes from; Dynamo gives its own code lines of the program too"
    ]
    jump: Annotated[int | None, "the offset that it jumps to"]


@dataclass(frozen=True)
class Bytecode:
    """The bytecode of a frame before and after Dynamo. `source` has the text of its lines, by number.

    `method` is as in `Frame`. The instructions are empty where they were not requested.
    """

    compile_id: CompileId | None
    name: str
    qualified_name: str
    place: Place
    fingerprint: str
    source: dict[int, str]
    original: tuple[Instruction, ...]
    modified: tuple[Instruction, ...]
    method: str | None = None


@dataclass(frozen=True)
class ResumeFunction:
    """A global `__resume_at_<offset>_<n>`, the code it runs, and the frame whose break made it."""

    name: str
    code_name: str
    fingerprint: str
    made_by: CompileId | None


@dataclass(frozen=True)
class GeneratedKernels:
    """The kernels in code that Inductor generated, by name, and how often running the code calls each.

    A training graph has such a record for its forward and another for its backward, of the same compile.
    """

    compile_id: CompileId | None
    calls: Mapping[str, int]


@dataclass(frozen=True)
class Phase:
    """A span of a compile that torch timed, and the spans in it.

    `name` is torch's, `function` the name of the function that it timed. Times are in ns since the epoch.
    `end_ns` is None where no end was recorded: after a kill, or an error in older versions of torch.
    `cache_state` is the outcome of the cache look-up at its begin.
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
        """The end of the span, or the last moment that is known to be in it."""
        if self.end_ns is not None:
            return self.end_ns
        return max((child.last_ns for child in self.children), default=self.begin_ns)


@dataclass(frozen=True)
class TracedFunction:
    """The time that Dynamo spent on tracing a function in one attempt, with its callees and without.

    A recursion's inclusive time counts once; a generator is called each time it is resumed. The functions
    that took longest are named; all others of an attempt, `functions` in number, are one entry without a
    name.
    """

    compile_id: CompileId | None
    attempt: int
    name: str | None
    place: Place | None
    calls: int
    exclusive_seconds: float
    inclusive_seconds: float | None
    functions: int = 1
