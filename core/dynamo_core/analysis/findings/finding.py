"""A finding: one thing that the recording shows to be in the way, with its cause, its cost and what to do."""

from typing import Literal, get_args

from ...model import Place, StackFrame
from ...shared.quick_dataclass import dataclass
from ..remedies.advice import Change

Kind = Literal[
    "wrong result",
    "compiler error",
    "ranks differ",
    "fell back to eager",
    "recompile limit",
    "left eager by a limit",
    "graph break",
    "recompile",
    "compiled anew",
    "backend declined",
    "overhead-bound graphs",
    "costly guards",
    "never pays back",
    "unrolled loop",
    "unstable key",
    "cold start",
    "caches off",
    "cache bypass",
    "eager optimizer",
    "time outside of graphs",
    "slow loader",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
# What the compiler made of the program: the same in every run. The other kinds rest on times.
OF_THE_COMPILER: tuple[Kind, ...] = (
    "wrong result",
    "compiler error",
    "ranks differ",
    "fell back to eager",
    "recompile limit",
    "graph break",
    "recompile",
    "compiled anew",
    "backend declined",
)

Known = Literal["measured", "sampled", "estimated", "not recorded"]
"""How a figure is known; an estimate is what can be won at the very most, or the reverse."""

RemedyKind = Literal["edit", "argument", "setting", "environment", "command"]


@dataclass(frozen=True)
class Figure:
    """Seconds, and how they are known; `seconds` is None where they were not recorded."""

    seconds: float | None
    known: Known

    def __post_init__(self) -> None:
        assert (self.seconds is None) == (self.known == "not recorded")


NOT_RECORDED = Figure(None, "not recorded")


@dataclass(frozen=True)
class Cost:
    """Seconds lost so far and in each step of the program, and what fixing can save at most in this run."""

    lost: Figure = NOT_RECORDED
    per_step: Figure = NOT_RECORDED
    saves_at_most: Figure = NOT_RECORDED


@dataclass(frozen=True)
class Evidence:
    """What in the recording a finding rests on: ids of compiles, numbers of graphs, and torch's own words.

    `tests` are those of pytest in which it was met.
    """

    compile_ids: tuple[str, ...] = ()
    graphs: tuple[int, ...] = ()
    records: tuple[str, ...] = ()
    times: int = 1
    tests: tuple[str, ...] = ()


@dataclass(frozen=True)
class Remedy:
    """Something to do, as a sentence. `check` is the command that shows whether it worked.

    `change` is what `dynamo fix` does to try it, None where that is left to a person; `may_change` what else
    it may do to the program. `proven_by` names the recording of a run in which it worked; None where it was
    not tried.
    """

    kind: RemedyKind
    text: str
    check: str
    change: Change | None = None
    may_change: str = ""
    proven_by: str | None = None


@dataclass(frozen=True)
class Finding:
    """`title` is one line that names it, `cause` a sentence on why; `effect` says what it does to the run.

    `place` is the line that causes it, `source` its text; where that leads into a library, `via` is the
    line of it that is in the way, and of a recompile the call that brought it about. `identity` stays the
    same when lines move, paths change, ids are numbered again or the run is repeated. `processes` names the
    streams in which it was met.
    """

    kind: Kind
    identity: str
    title: str
    cause: str
    effect: str
    place: Place | None
    function: str | None
    source: str
    via: StackFrame | None
    is_library: bool
    cost: Cost
    evidence: Evidence
    remedies: tuple[Remedy, ...]
    processes: tuple[str, ...]
