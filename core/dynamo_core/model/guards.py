"""The guards of cache entries, and which of them failed."""

from collections.abc import Mapping
from dataclasses import field

from ..shared.quick_dataclass import dataclass
from .ids import CompileId, Place, StackFrame


@dataclass(frozen=True)
class GuardFailure:
    """Why a cache entry could not be used: the check that failed, in torch's words and in parts.

    `kind` says what differed: size, stride, rank, dtype, requires_grad, dispatch keys, device, length, type,
    identity, freed object, global state, attribute, dictionary, relation of sizes, value, comparison (of a
    number with a bound), other. `index` is the dimension, `remark` what torch says of the check besides.
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
    remark: str | None = None


@dataclass(frozen=True)
class RecompileReasons:
    """Why each cache entry that a frame had could not be used, before it was compiled as `compile_id`."""

    compile_id: CompileId | None
    failures: tuple[GuardFailure, ...]


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


# Graph breaks, with torch's own words on them.


# torch's reason of a break behind which it does not go on.
# Source: torch/_dynamo/symbolic_convert.py (step_graph_break), 2.8 to 2.15
NOT_RESUMED = "step_unsupported"


@dataclass(frozen=True)
class BreakExplanation:
    """torch's own words on a break. `registry_id` (GBnnnn) and `link` lead to its page there.

    `stack` is the user's, outermost first; empty where the text has none.
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
    text of the lines next to the one that broke, by number, `grad_enabled` torch's grad mode there. It was
    met at `at_ns` (since the epoch), in a `test` of pytest. `method` is that of the compiled frame, as in
    `Frame`. Behind a break that is not resumed, the rest of the frame runs eager; its stack is that of the
    line that could not be traced.
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

    @property
    def is_resumed(self) -> bool:
        """Whether torch compiles what comes behind it in the frame."""
        return self.reason != NOT_RESUMED

    @property
    def place(self) -> Place | None:
        """Where the graph broke."""
        return self.stack[-1].place if self.stack else None

    @property
    def kind(self) -> str:
        """What to call the break: torch's name for its kind, or the first line of the raw reason."""
        return self.explanation.kind if self.explanation else self.reason.partition("\n")[0]
