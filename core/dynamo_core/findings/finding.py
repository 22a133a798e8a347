"""A finding: one thing that the recording shows to be in the way, with its cause, its cost and what to do."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import field
from typing import Literal, NamedTuple

from ..analysis.recompile_echoes import CompileKey
from ..analysis.source_lines import is_library, is_of_torch_or_python
from ..analysis.words import alternatives
from ..model import Compile, Frame, Place, Process, StackFrame
from ..remedies.rules import Assignment, Change
from ..shared.declared import NOT_IN_JSON
from ..shared.quick_dataclass import dataclass
from ..shared.shown_in_notebook import bullets, code, paragraph, title
from .kinds import Kind

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

    `times` is how often it was met, `ran` how often the program came by the line of a graph break since, None
    where that was not counted. `tests` are those of pytest in which it was met.
    """

    compile_ids: tuple[str, ...] = ()
    graphs: tuple[int, ...] = ()
    records: tuple[str, ...] = ()
    times: int = 1
    tests: tuple[str, ...] = ()
    ran: int | None = None


@dataclass(frozen=True)
class Remedy:
    """Something to do, as a sentence. `check` is the command that shows whether it worked.

    `change` is what `dynamo fix` does to try it, None where that is left to a person; `may_change` what else
    it may do to the program. `tried` says what came of it when the frame was traced again with it, as
    `dynamo run --try` does: "gone", "still there", "moves to line 16"; None where it was not tried.
    """

    kind: RemedyKind
    text: str
    check: str
    change: Change | None = None
    may_change: str = ""
    tried: str | None = None

    @property
    def in_short(self) -> str:
        """What to set or to pass; of anything else all of the advice."""
        change = self.change or Change()
        if change.environment:
            return f"set `{_typed(change.environment)}`"
        if change.arguments and not self.text.startswith("pass "):
            return f"pass `{_typed(change.arguments)}` to `torch.compile`"
        return self.text.partition(": ")[0] if change.settings or change.arguments else self.text


def _typed(assignments: Iterable[Assignment]) -> str:
    return " ".join(
        str(each) if each.value.isalnum() else f'{each.name}="{each.value}"' for each in assignments
    )


@dataclass(frozen=True)
class Finding:
    """`title` is one line that names it, `cause` a sentence on why; `effect` says what it does to the run.

    `place` is the line that causes it, `source` its text; where that leads into a library, `via` is the
    line of it that is in the way, and of a recompile the call that brought it about. `identity` stays the
    same when lines move, paths change, ids are numbered again or the run is repeated. `processes` names the
    streams in which it was met. `because_of` is the identity of another finding of which this one is a
    consequence, None where it is none.
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
    because_of: str | None = None
    key: tuple[str, ...] = field(default=(), metadata=NOT_IN_JSON)  # its draft's

    def _repr_html_(self) -> str:
        """What a notebook shows: the line, why it is in the way, what it costs, and what to do."""
        texts = (self.cause, self.effect)
        advice = alternatives(remedy.text for remedy in self.remedies)
        return title(self.title) + code(self.source) + "".join(map(paragraph, texts)) + bullets(advice)


# What one analysis says of a finding, before that has an identity and its place in the ranking.


class Shared(NamedTuple):
    """Seconds in what a finding has lost, and in what fixing it saves, that others may have in theirs, too.

    `of` says what took them: those of two findings that have some of it in common are the same seconds.
    """

    of: frozenset[Hashable]
    lost: float
    saved: float


WORTH_A_WORD_S = 1.0  # what took less is no reason to change a program


@dataclass(frozen=True)
class Draft:
    """A finding as one analysis makes it; `key` distinguishes it from others of its kind in the function.

    It must not hold line numbers, paths, ids or anything that was counted or measured. `cause` and `remedies`
    may be functions: what costs something to say is worked out for those who show it (`of_identities`).
    `shared_seconds` of what fixing it saves at most are all that compiling more of its process can win:
    they can be saved once, however many drafts say so. `shares` are seconds that only some others have, too.
    `brings_about` are compiles that follow from it, recompiles and frames that fall back. `calls` are those
    of what its line calls without naming it: all that is found there follows from it.
    """

    kind: Kind
    key: tuple[str, ...]
    title: str
    cause: str | Callable[[], str]
    processes: tuple[Process, ...]
    place: Place | None = None
    function: str | None = None
    source: str = ""
    effect: str = ""
    via: StackFrame | None = None
    cost: Cost = field(default_factory=Cost)
    shared_seconds: float = 0.0
    shares: tuple[Shared, ...] = ()
    evidence: Evidence = field(default_factory=Evidence)
    remedies: tuple[Remedy, ...] | Callable[[], tuple[Remedy, ...]] = ()
    brings_about: frozenset[CompileKey] = frozenset()
    calls: frozenset[CompileKey] = frozenset()

    @property
    def compiles(self) -> set[CompileKey]:
        """The compiles that it rests on."""
        return {(process.stream, each) for process in self.processes for each in self.evidence.compile_ids}

    @property
    def is_library(self) -> bool:
        """Whether it is in code that is not the user's own, even where a line of the user's leads there.

        What a line of the user's asks of torch, or of Python, is the user's to change.
        """
        own = self.place is not None and not is_library(self.place)
        inside = None if self.via is None else self.via.place
        if own and inside is not None and is_of_torch_or_python(inside):
            return False
        return (not own and self.place is not None) or (inside is not None and is_library(inside))


def tests_of(process: Process, compiled: Iterable[Compile | Frame]) -> tuple[str, ...]:
    """The tests of pytest that ran when these were compiled, in the order in which they ran."""
    found = (process.tests.get(each.compile_id) for each in compiled)
    return tuple(dict.fromkeys(test for test in found if test is not None))
