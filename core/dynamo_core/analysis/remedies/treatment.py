"""One remedy of the tables: which breaks it is for, what it says, and the program that shows that it cures."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from .advice import Advice, Change
from .situation import Situation

_VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})")


@dataclass(frozen=True)
class Treatment:
    """`words` must be found in torch's words, `line` in the user's line and `unless` in neither of them.

    `cause` and `text` may name parts of the line: {condition}, {call}, … (`Situation.parts`). `when` is a further
    condition. `shown_by` names the program in tests/integration/broken_programs that it cures, `not_for` those
    in which it would do harm, so that it must not be given there. `since` is the first torch that accepts it.
    """

    words: re.Pattern[str]
    text: str
    shown_by: str
    cause: str = ""
    line: re.Pattern[str] | None = None
    unless: re.Pattern[str] | None = None
    when: Callable[[Situation], bool] | None = None
    change: Change | None = None
    may_change: str = ""
    since: tuple[int, int] = (2, 8)
    not_for: tuple[str, ...] = ()

    def fits(self, situation: Situation) -> bool:
        """Whether it is for this break, in this version of torch."""
        return (
            self.words.search(situation.words) is not None
            and (self.line is None or self.line.search(situation.line) is not None)
            and (self.unless is None or self.unless.search(situation.line) is None)
            and (self.when is None or self.when(situation))
            and _version(situation.torch_version) >= self.since
        )

    def advice(self, situation: Situation) -> Advice:
        """It, for this break."""
        return Advice(self.text.format_map(situation.parts), self.change, self.may_change)

    def cause_of(self, situation: Situation) -> str:
        """Why the graph breaks there; empty where torch's own words have to do."""
        return self.cause.format_map(situation.parts)


def _version(text: str | None) -> tuple[int, int]:
    """A version that is not known could be any: only what all of them accept is given."""
    found = _VERSION.match(text or "")
    return (int(found[1]), int(found[2])) if found else (2, 8)
