"""What one analysis says of a finding, before that has an identity and its place in the ranking."""

from collections.abc import Callable, Iterable
from dataclasses import field

from ...model import Compile, Frame, Place, Process, StackFrame
from ...shared.quick_dataclass import dataclass
from ..library import is_library
from .finding import Cost, Evidence, Kind, Remedy

WORTH_A_WORD_S = 1.0  # what took less is no reason to change a program


@dataclass(frozen=True)
class Draft:
    """As `Finding`; `key` is what tells it from others of its kind in the same function, whatever the run.

    It must not hold line numbers, paths, ids or anything that was counted or measured. `cause` and `remedies`
    may be functions: what costs something to say is worked out for those who show it (`as_findings`).
    `outside_seconds` of what fixing it saves at most are all that its process spent outside of graphs, which
    can be saved once, however many drafts say so.
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
    outside_seconds: float = 0.0
    evidence: Evidence = field(default_factory=Evidence)
    remedies: tuple[Remedy, ...] | Callable[[], tuple[Remedy, ...]] = ()

    @property
    def is_library(self) -> bool:
        """Whether it is in code that is not the user's own, even where a line of the user's leads there."""
        places = [self.place, None if self.via is None else self.via.place]
        return any(place is not None and is_library(place) for place in places)


def tests_of(process: Process, compiled: Iterable[Compile | Frame]) -> tuple[str, ...]:
    """The tests of pytest that ran when these were compiled, in the order in which they ran."""
    found = (process.tests.get(each.compile_id) for each in compiled)
    return tuple(dict.fromkeys(test for test in found if test is not None))
