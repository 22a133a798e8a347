"""Graph breaks, with torch's own words on them."""

from collections.abc import Mapping
from dataclasses import field

from ..shared.quick_dataclass import dataclass
from .ids import CompileId, Place, StackFrame

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
