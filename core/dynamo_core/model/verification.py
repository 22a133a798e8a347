"""Compiled calls beside eager's, and where the two do not mean the same."""

from typing import get_args

from ..shared.quick_dataclass import dataclass
from ..shared.records import VerifyOutcome
from .ids import Place

# What can come of a call that --verify is to compare with eager.
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
    """A call of a compiled graph beside eager. `call` counts from 1; `compared` is the number of values.

    `why` says why nothing was compared, `gradients` whether they were, or why not (None: there are none),
    `node_unknown` why the wrong node is not known. `worst` is the value nearest to its limit.
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
class SemanticDifference:
    """Where torch.compile does not do what eager does. `graph` is None where a frame was left to eager.

    `answered` is how the program fared: "eager", as without us; "compiled", as torch.compile gives it;
    "expected" of what was read from a graph of a program that compiles for itself, and may never matter.
    `outputs` and `inputs` are the graph's that are concerned, `compiled` and `eager` the two's exceptions.
    """

    kind: str
    graph: int | None
    answered: str
    place: Place | None
    outputs: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    compiled: str | None = None
    eager: str | None = None
