"""Dynamo at work: the frames that it tried, the compiles that came of them, and what each left."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from ..shared.quick_dataclass import dataclass
from .guards import BreakExplanation, GraphBreak
from .ids import CompileId, Place, StackFrame


@dataclass(frozen=True)
class Frame:
    """One attempt of Dynamo at a frame. `outcome`: compiled, skipped, failed (then eager), raised (an error
    in the program).

    `ok` is what torch's `counters["frames"]["ok"]` counts. Frames of `fullgraph=True` are not in it.
    `explanation` has torch's words on what made Dynamo give up, `broke` the break that it raised as an error,
    where none was allowed, `stopped` the same for an error that torch kept to itself. `limit` is the option
    whose limit made us give it up, which `reason` is about.
    `called_from` is the line outside of torch that called it, `compiled_by` that which called torch.compile.
    `method` names a module's method and what a wrapper stands for, `GPT2Model.forward`, where that is known.
    `thread` is the name of the one in which it was tried, if not the main one.
    What `is_exit` raised no error: the compile was interrupted, by Ctrl-C or the program's own exit.
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


@dataclass(frozen=True)
class Deferred:
    """A frame that ran eager so many times because compiling had taken too long by then."""

    name: str
    place: Place
    times: int


@dataclass(frozen=True)
class Compiling:
    """A compile that began and did not end. `backend` has had its `graph` since `backend_ns`.

    Or one that was interrupted (Ctrl-C, the program's own exit): when and by what is known then.
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

    `restart_reasons` says why the analysis began again, which cost `seconds_before_restart`; `dynamic` is the
    argument of torch.compile, None where it was left to torch; `method` as in `Frame`. Without a reason it is
    no recompile only where torch `tells_recompile`: the metrics of an older one have no such field.
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
    method: str | None = None
    tells_recompile: bool = True


@dataclass(frozen=True)
class Symbol:
    """A size or number that Dynamo made dynamic in a compile. `hint` is the value that it met.

    `stack` leads from the compiled frame to its first use, at `place`.
    """

    compile_id: CompileId | None
    name: str
    hint: str
    source: str
    place: Place | None
    stack: tuple[StackFrame, ...] = ()


@dataclass(frozen=True)
class Specialization:
    """A size or number that was to be dynamic in a compile, until a line needed its `value`.

    `stack` leads from the compiled frame to that line. `sources` are the names that torch has for it, as in
    `Symbol`.
    """

    compile_id: CompileId | None
    sources: tuple[str, ...]
    value: str
    stack: tuple[StackFrame, ...]


@dataclass(frozen=True)
class Stage:
    """The text of a graph, or of the code made from it, at a stage of a compile. `name` is the record's."""

    name: str
    compile_id: CompileId | None
    text: str
    file: str | None = None


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
class GeneratedKernels:
    """The kernels in code that Inductor generated, by name, and how often running the code calls each.

    A training graph has such a record for its forward and another for its backward, of the same compile.
    """

    compile_id: CompileId | None
    calls: Mapping[str, int]


# What compiling took its time for, as torch and Dynamo's tracer timed it.


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
