"""What was done to the program's compiling: captured, frozen, overridden."""

from dataclasses import field
from typing import NamedTuple

from ..shared.quick_dataclass import dataclass
from .guards import GuardFailure
from .ids import CompileId, Place, StackFrame


@dataclass(frozen=True)
class Freeze:
    """Whether --freeze-after came to pass, by `at_ns` (since the epoch).

    By then so many calls had counted, or so many seconds had passed since the last compile; None where that
    is not what it was about.
    """

    frozen: bool
    calls: int | None
    seconds: float | None
    at_ns: int


@dataclass(frozen=True)
class NotCompiled:
    """A frame that ran eager, or raised, because it would have been compiled after the freeze.

    `reasons` are as torch words them, one for each cache entry, the newest first. `times` is how often it was
    met for them and these values, or for others that are not told (None); all but `reasons` and `times` is
    None for what is told of no frame. In a process that was killed, `times` may be up to twice that. `at_ns`
    is when it was first met, `called_from` the line outside of torch that called it then, `method` as in
    `Frame`.
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
    """What became of a `--config`: the setting's value before and after it, or why it was not set."""

    change: str
    was: str | None
    now: str | None
    problem: str | None


@dataclass(frozen=True)
class AppliedOverride:
    """Arguments that were replaced in a call of torch.compile at `place`, or the backend of a compile.

    `overrides` are those that asked for it, none where --fullgraph did; `of` names what was compiled.
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
