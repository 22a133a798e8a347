"""Guards of cache entries, the guards that failed, and graph breaks with torch's explanation."""

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, ClassVar, Literal

from ..shared.declared import NOT_IN_JSON
from ..shared.quick_dataclass import dataclass
from .ids import CompileId, Place, StackFrame

FailureKind = Literal[
    "size",
    "stride",
    "rank",
    "dtype",
    "requires_grad",
    "dispatch keys",
    "device",
    "length",
    "type",
    "identity",
    "freed object",
    "global state",
    "attribute",
    "dictionary",
    "set",
    "relation of sizes",
    "comparison",
    "value",
    "other",
]


@dataclass(frozen=True)
class GuardFailure:
    """A guard that failed, and on what. A comparison is of a number with a bound."""

    in_common: ClassVar[str] = "failure"

    entry: Annotated[CompileId | None, "the cache entry that could not be used"]
    check: Annotated[str, "the guard that failed, in torch's words"]
    kind: Annotated[FailureKind, "what differed"]
    source: Annotated[str | None, "as torch spells it here: x for L['x']"]
    dimension: int | None
    expected: str | None
    actual: Annotated[str | None, "torch says it, or the entry then compiled is guarded on it"]
    place: Place | None
    user_code: str | None
    hint: Annotated[str | None, "torch's"]
    remark: str | None = field(default=None, metadata=NOT_IN_JSON)  # a further comment of torch's


@dataclass(frozen=True)
class RecompileReasons:
    """Why each cache entry of a frame could not be used, before the frame was compiled as `compile_id`."""

    compile_id: CompileId | None
    failures: tuple[GuardFailure, ...]


@dataclass(frozen=True)
class Guard:
    """A condition under which a cache entry may be used."""

    type: Annotated[str, "the method of torch's GuardBuilder: TENSOR_MATCH"]
    source: Annotated[str, "what it is about: L['x'] is a local, G['x'] a global; empty for torch's state"]
    scope: Annotated[str | None, "torch's GuardSource, in lower case"]
    code: Annotated[tuple[str, ...], "torch's text of what is to be checked"]
    place: Annotated[Place | None, "the user's line that it is due to"]


@dataclass(frozen=True)
class GuardCheck:
    """A leaf of torch's guard tree: one check that is evaluated before the cache entry runs."""

    type: Annotated[str, "the kind of leaf"]
    source: Annotated[str, "what it is about; empty for torch's state and for relations between sources"]
    code: Annotated[str, "torch's text; empty where a relational check is printed at another source"]
    user_code: Annotated[str | None, "the user's line that it is due to"]
    place: Annotated[Place | None, "where that line is; torch may cut the file's name short at the front"]
    function: Annotated[str | None, "in which that line is"]


@dataclass
class GuardSet:
    """The guards of one cache entry, as Dynamo made them (`guards`) and as they are evaluated (`checks`).

    Either is None where it was not recorded or not requested. `latency_us` is torch's own measurement of one
    evaluation, in microseconds, with a flushed cache.
    """

    compile_id: CompileId | None
    guards: tuple[Guard, ...] | None = None
    checks: tuple[GuardCheck, ...] | None = None
    latency_us: float | None = None


# torch's reason for a break after which it does not resume in the frame.
# Source: torch/_dynamo/symbolic_convert.py (step_graph_break), 2.8 to 2.15
NOT_RESUMED = "step_unsupported"


@dataclass(frozen=True)
class BreakExplanation:
    """torch's explanation of a break. `registry_id` (GBnnnn) and `link` lead to its page in torch's registry.

    `stack` is the user's, outermost frame first; empty where torch's text has none.
    """

    place: Place
    kind: str
    explanation: str | None
    hints: tuple[str, ...]
    registry_id: str | None
    link: str | None = None
    stack: tuple[StackFrame, ...] = ()


@dataclass(frozen=True)
class GraphBreak:
    """A break as Dynamo counts them. `stack` is the user's, from the compiled frame to the line that broke.

    `callers` leads to the compiled frame, outermost first; empty where it was not recorded. `around` has the
    text of the lines next to the line that broke, by number, `grad_enabled` torch's grad mode there. The
    break occurred at `at_ns` (since the epoch), in the `test` of pytest. `method` is that of the compiled
    frame, as in `Frame`. After a break that is not resumed, the rest of the frame runs eager; the stack of
    such a break ends at the line that could not be traced. `is_inlined` is set where a frame runs eager for
    it that had inlined the compiled one.
    """

    reason: str
    stack: tuple[StackFrame, ...]
    compile_id: CompileId | None
    explanation: BreakExplanation | None = None
    callers: tuple[StackFrame, ...] = ()
    around: Mapping[int, str] = field(default_factory=dict)
    grad_enabled: bool | None = None
    at_ns: int | None = field(default=None, compare=False)
    test: str | None = field(default=None, compare=False)
    method: str | None = None
    is_inlined: bool = field(default=False, compare=False)

    @property
    def is_resumed(self) -> bool:
        """Whether torch compiles the rest of the frame after the break."""
        return self.reason != NOT_RESUMED

    @property
    def place(self) -> Place | None:
        """Where the graph broke."""
        return self.stack[-1].place if self.stack else None

    @property
    def kind(self) -> str:
        """The name of the kind of break: torch's, or else the first line of the raw reason."""
        return self.explanation.kind if self.explanation else self.reason.partition("\n")[0]
