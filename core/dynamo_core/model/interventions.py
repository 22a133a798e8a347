"""What a run changed in the program: capture, freeze, overrides, `--verify`, semantic differences."""

from dataclasses import field
from typing import NamedTuple, get_args

from ..shared.quick_dataclass import dataclass
from ..shared.records import ProgramOutcome, VerifyOutcome
from .guards import GuardFailure
from .ids import CompileId, Place, StackFrame


@dataclass(frozen=True)
class Freeze:
    """Whether --freeze-after has frozen compiling, at `at_ns` (since the epoch).

    `calls` had been counted, or `seconds` had passed since the last compile; None where the option was not
    about that, or named several functions.
    """

    frozen: bool
    calls: int | None
    seconds: float | None
    at_ns: int


@dataclass(frozen=True)
class NotCompiled:
    """A frame that ran eager, or raised, because it would have been compiled after the freeze.

    `reasons` are torch's texts, one for each cache entry, the newest first. `times` is how often the frame
    was met for these reasons and values; without `reasons`, for further reasons that were not recorded one by
    one; without a `name` too, for further frames. In a process that was killed, it may have been up to twice
    as often. `at_ns` is when the frame was first met so, `called_from` the line outside of torch that called
    it then, `method` is as in `Frame`.
    """

    name: str | None
    place: Place | None
    reasons: tuple[str, ...] | None
    failures: tuple[GuardFailure, ...]
    times: int
    at_ns: int | None = field(default=None, compare=False)
    method: str | None = None
    called_from: StackFrame | None = None


class Replaced(NamedTuple):
    """An argument of torch.compile, and its value before and after it was replaced."""

    argument: str
    was: str
    now: str


@dataclass(frozen=True)
class ChangedSetting:
    """The effect of a `--config`: the setting's value before and after it, or why it was not set."""

    change: str
    was: str | None
    now: str | None
    problem: str | None


@dataclass(frozen=True)
class AppliedOverride:
    """Arguments that were replaced in a call of torch.compile at `place`, or the backend of a compile.

    `overrides` are the overrides that did it, none where --fullgraph did; `of` names what was compiled.
    """

    overrides: tuple[str, ...]
    of: str | None
    place: Place | None
    compile_id: CompileId | None
    replaced: tuple[Replaced, ...]
    times: int


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


# The outcomes of a call that --verify compares with eager.
AGREES, DISAGREES, NOT_COMPARABLE, NOT_VERIFIED = "agrees", "disagrees", "not comparable", "not verified"
VERIFY_OUTCOMES = get_args(VerifyOutcome)


@dataclass(frozen=True)
class ComparedValue:
    """A value beside eager's: how far it is from `against` ("float64" or "eager"), and how far it may be.

    Both at the element that is nearest to the limit, or furthest beyond it; None where `detail` says why.
    `size` is the largest finite value that it is compared with; None where that was not recorded.
    """

    name: str
    error: float | None
    allowed: float | None
    against: str
    detail: str | None
    size: float | None = None


@dataclass(frozen=True)
class WrongNode:
    """The first node of a graph whose value disagrees with eager."""

    name: str
    target: str
    place: Place | None
    value: ComparedValue | None


@dataclass(frozen=True)
class VerifiedCall:
    """A call of a compiled graph compared with eager. `call` counts from 1; `compared` counts values.

    `why` says why nothing was compared; `gradients` whether gradients were compared, or why not (None: there
    are none); `node_unknown` why the wrong node is not known. `worst` is the value nearest to its limit.
    """

    graph: int
    call: int
    outcome: VerifyOutcome
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
class VerifiedProgramCall:
    """A call of what the program compiled, compared with plain Python. `call` counts from 1.

    `compiled_at` is the call of torch.compile, `function_place` the function that it compiles. `kind` is what
    is wrong, at the value that `path` names; `stage` is the first of the compiler's that is wrong, and
    `wrong_place` and `operation` the first operation; each is None where it is not known. `why` says why it
    was not compared, `left_out` which of its values were not (None if all were).
    """

    name: str
    compiled_at: Place
    function_place: Place | None
    call: int
    outcome: ProgramOutcome
    why: str | None
    compared: int
    gradients: str | None
    kind: str | None
    path: str | None
    detail: str | None
    error: float | None
    allowed: float | None
    differences: int
    left_out: str | None
    stage: str | None
    wrong_place: Place | None
    operation: str | None
    seconds: float


@dataclass(frozen=True)
class SemanticDifference:
    """Where torch.compile does not do what eager does. `graph` is None where a frame fell back to eager.

    `answered` is what the program got: "eager", as without capture; "compiled", as from torch.compile;
    "expected" was found in a graph of a program with its own torch.compile, and may never occur. `outputs`
    and `inputs` are the concerned ones of the graph; `compiled` and `eager` are the exceptions of either
    side.
    """

    kind: str
    graph: int | None
    answered: str
    place: Place | None
    outputs: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    compiled: str | None = None
    eager: str | None = None
