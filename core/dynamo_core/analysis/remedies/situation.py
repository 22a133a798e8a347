"""A graph break, or what made Dynamo give a frame up, as the tables of remedies look at it."""

import re
from functools import cached_property

from ...model import GraphBreak, Place, StackFrame
from ...shared.quick_dataclass import dataclass
from ..library import is_library, package_of
from ..line_parts import call_on, condition_of, targets_of

_LONGEST_WORDS = 4000  # characters of torch's; what tells breaks apart comes first
_LONGEST_REASON = 20_000
_LONGEST_CONTEXT = 200
_CONTEXT = "Developer debug context: "
_DDP = "torch/nn/parallel/distributed.py"
_NAME = re.compile(r"[A-Za-z_]\w{0,99}")
_COMMENT = re.compile(r"\s{0,9}#[^'\"]{0,300}$")


@dataclass(frozen=True)
class Situation:
    """`words` are torch's name for the break and its explanation, `line` is the text of the user's line.

    `following` are the lines behind it, as far as they are known. Where the break is inside of a library,
    `entered` is the function of it that the user's line calls, `library` whose it is, and `depth` how many
    calls inside of it; `is_in_ddp` if that is DistributedDataParallel. `context` is what torch adds for its
    developers.
    """

    words: str
    line: str = ""
    following: tuple[str, ...] = ()
    entered: str | None = None
    depth: int = 0
    library: str | None = None
    torch_version: str | None = None
    function: str | None = None
    context: str = ""
    grad_enabled: bool | None = None
    is_in_ddp: bool = False

    @cached_property
    def parts(self) -> dict[str, str]:
        """What advice can name: parts of the line, or words that stand for them."""
        called = frozenset(_NAME.findall(self.words[:300]))
        if self.entered is not None:
            called = frozenset((self.entered,))
        line = _COMMENT.sub("", self.line) or "the line"
        call = call_on(self.line, called)
        targets = targets_of(self.line)
        condition = condition_of(self.line)
        return {
            "line": line,
            "branch": condition or line,
            "condition": condition or "condition",
            "tensor_condition": (condition or "condition").replace(".item()", ""),
            "call": call or line,
            "called": (call or self.entered or line).partition("(")[0],
            "target": ", ".join(targets) or "what it returns",
            "function": self.function or "the function",
            "library": self.library or "the library",
        }

    @property
    def is_in_library(self) -> bool:
        """Whether it is in a library that the user calls, and not in torch."""
        return self.entered is not None and self.library not in (None, "torch")

    @property
    def counts_a_loop(self) -> bool:
        """Whether a `range` on this line is as long as the value, or one behind it that takes it."""
        targets = targets_of(self.line)
        calls = [call_on(line, frozenset({"range"})) or "" for line in self.following]
        ranges = [call for call in calls if call.startswith("range(")]
        return "range(" in self.line or any(
            target in _NAME.findall(call) for call in ranges for target in targets
        )

    @property
    def is_branched_on_next(self) -> bool:
        """Whether a line behind it branches on what this one assigns."""
        targets = targets_of(self.line)
        tested = [condition_of(line) for line in self.following]
        return any(target in _NAME.findall(condition or "") for condition in tested for target in targets)


def situation_of(graph_break: GraphBreak, torch_version: str | None) -> Situation:
    """What the tables of remedies go by, of one graph break."""
    explanation = graph_break.explanation
    words = f"{graph_break.kind}\n{(explanation and explanation.explanation) or graph_break.reason}"
    own, entered = user_line(graph_break)
    stack = [*graph_break.callers, *graph_break.stack]  # the user's call may be outside of what is compiled
    lines = graph_break.around
    behind = sorted(n for n in lines if own is not None and n > own.place.line) if entered is None else []
    return Situation(
        words[:_LONGEST_WORDS],
        own.text.strip() if own is not None else "",
        tuple(lines[n] for n in behind),
        None if entered is None else entered.function,
        0 if entered is None else len(stack) - stack.index(entered),
        None if entered is None else package_of(entered.place),
        torch_version,
        graph_break.stack[0].function if graph_break.stack else None,
        graph_break.reason[:_LONGEST_REASON].partition(_CONTEXT)[2][:_LONGEST_CONTEXT],
        graph_break.grad_enabled,
        (graph_break.method or "").startswith("DistributedDataParallel")
        or any(frame.place.file.endswith(_DDP) for frame in stack),
    )


def user_line(graph_break: GraphBreak) -> tuple[StackFrame | None, StackFrame | None]:
    """The innermost line of the user's own, and the frame of a library that it entered to break in there."""
    stack = [*graph_break.callers, *graph_break.stack]
    for position in range(len(stack) - 1, -1, -1):
        if not is_library(stack[position].place):
            return stack[position], stack[position + 1] if position + 1 < len(stack) else None
    return (stack[-1], None) if stack else (None, None)


def place_of(graph_break: GraphBreak) -> Place | None:
    """Where the user has to look."""
    own, _ = user_line(graph_break)
    return own.place if own is not None else graph_break.place
