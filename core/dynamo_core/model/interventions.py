"""What a run changed in the program: capture, freeze, overrides, `--verify`, semantic differences."""

from dataclasses import field
from typing import Annotated, NamedTuple, get_args

from ..shared.declared import Count, Ge, Seconds
from ..shared.quick_dataclass import dataclass
from ..shared.records import ProgramOutcome, VerifyOutcome
from .guards import GuardFailure
from .ids import CompileId, Place, StackFrame


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
class AppliedOverride:
    """Arguments that were replaced in a call of torch.compile, or the backend of a compile."""

    overrides: Annotated[tuple[str, ...], "as given; empty where --fullgraph alone asked for it"]
    of: Annotated[str | None, "the function or module that was compiled"]
    place: Annotated[Place | None, "of the call of torch.compile, or of the frame"]
    compile_id: Annotated[CompileId | None, "null for a call of torch.compile"]
    replaced: tuple[Replaced, ...]
    times: Annotated[int, Ge(1)]


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
    """A call of a compiled graph compared with eager."""

    graph: int
    call: Annotated[int, "from 1"]
    outcome: VerifyOutcome
    why: Annotated[str | None, "why nothing was compared"]
    compared: Annotated[Count, "values: outputs, inputs changed in place, gradients"]
    against_float64: Annotated[
        Count, "how many of them were measured by the graph in float64; the others by eager"
    ]
    gradients: Annotated[str | None, "compared, or why not; null where there are none"]
    worst: Annotated[ComparedValue | None, "the value nearest to its limit, or furthest beyond it"]
    first_wrong: ComparedValue | None
    node: Annotated[WrongNode | None, "the first node whose value disagrees"]
    node_unknown: Annotated[str | None, "why the wrong node is not known"]
    seconds: Seconds


@dataclass(frozen=True)
class VerifiedProgramCall:
    """A call of what the program compiled, compared with plain Python from the same state."""

    name: str
    compiled_at: Annotated[Place, "the call of torch.compile"]
    function_place: Annotated[Place | None, "the function that was compiled"]
    call: Annotated[int, "from 1"]
    outcome: ProgramOutcome
    why: Annotated[str | None, "why it was not compared; of a wrong one, why its line is not known"]
    compared: Annotated[Count, "values"]
    gradients: Annotated[str | None, "compared, or why not; null where no backward of the program reached it"]
    kind: Annotated[
        str | None,
        "what is wrong: value, structure, dtype, stride, aliasing, mutation, exception, gradient, random, "
        "output; or more exact than written; or rounded otherwise, which is not wrong",
    ]
    path: Annotated[str | None, "the value that differs"]
    detail: str | None
    error: float | None
    allowed: float | None
    differences: Annotated[Count, "values that differ"]
    left_out: Annotated[str | None, "which of its values were not compared; null if all were"]
    stage: Annotated[str | None, "the first stage of the compiler that is wrong; null if not known"]
    wrong_place: Annotated[Place | None, "the line that it comes from; null if not known"]
    operation: str | None
    undeclared: Annotated[str | None, "what the operation does that it does not declare, where that is seen"]
    seconds: Seconds


@dataclass(frozen=True)
class TracedAgain:
    """A frame traced again in a copy of the process; `why` says why nothing is known of it.

    `breaks` are the lines of the stack of each graph break, `recompiled` counts the graphs of calls after the
    first, `left_eager` the frames that could not be compiled, `ops` those of all graphs.
    """

    breaks: tuple[tuple[Place, ...], ...]
    recompiled: int
    left_eager: int
    ops: int
    why: str | None


@dataclass(frozen=True)
class TriedChange:
    """What `changes` make of a frame that was traced again with them, as `dynamo run --try` does.

    A change is written as for `--config`, or is an argument of torch.compile. Of several, none has an effect.
    `compile_id` is the compile that they were tried for. Trying took `seconds`.
    """

    compile_id: CompileId | None
    place: Place
    changes: tuple[str, ...]
    before: TracedAgain
    after: TracedAgain
    seconds: float = 0.0


@dataclass(frozen=True)
class SemanticDifference:
    """Where torch.compile does not do what eager does. `graph` is None where a frame fell back to eager.

    What was "expected" may never occur. `outputs` and `inputs` are the concerned ones of the graph.
    """

    kind: str
    graph: Annotated[int | None, "null where a whole frame was left to eager"]
    answered: Annotated[
        str,
        'what the program got: "eager", "compiled", or "expected", which was read from the graph of a '
        "program that compiles for itself",
    ]
    place: Place | None
    outputs: tuple[str, ...] = ()
    inputs: Annotated[tuple[str, ...], "whose gradients differ"] = ()
    compiled: Annotated[str | None, "what the compiled code raised"] = None
    eager: Annotated[str | None, "what eager raised; null where it did not"] = None
