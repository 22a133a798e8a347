"""What an entry of the tables is: a cause of graph breaks, how it is recognized, and what to do about it."""

import re
from collections.abc import Callable, Sequence

from ...shared.quick_dataclass import dataclass
from .advice import Advice, Change
from .situation import Situation

_VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})")
_OLDEST = (2, 8)


@dataclass(frozen=True)
class Treatment:
    """One thing to do. `text` may name parts of the user's line: {condition}, {call}, … (`Situation.parts`).

    `cures` names the program in tests/integration/broken_programs that it cures, `not_for` those to which it
    would do harm, so that it must not be given there. `since` is the first torch that accepts it.
    """

    text: str
    cures: str
    change: Change | None = None
    may_change: str = ""
    since: tuple[int, int] = _OLDEST
    not_for: tuple[str, ...] = ()

    def advice(self, situation: Situation) -> Advice:
        """The advice, with the names of this break filled in."""
        return Advice(self.text.format_map(situation.parts), self.change, self.may_change)


@dataclass(frozen=True)
class Cause:
    """`words` must be found in torch's words, `line` in the user's line, and `unless` not.

    `when` is one more test. `sentence` says why the graph breaks; it names parts of the line as the
    treatments do. The surest of those come first.
    """

    words: re.Pattern[str]
    sentence: str
    treatments: tuple[Treatment, ...]
    line: re.Pattern[str] | None = None
    unless: re.Pattern[str] | None = None
    when: Callable[[Situation], bool] | None = None

    def fits(self, situation: Situation) -> bool:
        """Whether it is what this break comes from."""
        return (
            self.words.search(situation.words) is not None
            and (self.line is None or self.line.search(situation.line) is not None)
            and (self.unless is None or self.unless.search(situation.line) is None)
            and (self.when is None or self.when(situation))
        )

    def sentence_for(self, situation: Situation) -> str:
        """Why this one breaks."""
        return self.sentence.format_map(situation.parts)

    def advice(self, situation: Situation) -> Sequence[Advice]:
        """What to do about this one, with the torch that it ran with; where that is not known, with any."""
        found = _VERSION.match(situation.torch_version or "")
        version = (int(found[1]), int(found[2])) if found else _OLDEST
        return [each.advice(situation) for each in self.treatments if version >= each.since]
