"""Which findings of two runs are the same: by identity, else by kind, cause and place, else by what moved.

`dynamo check`, `dynamo diff` and `dynamo fix` go by these pairs, and by nothing else.
"""

import re
from collections.abc import Callable, Iterable

from ..model import function_of
from ..shared.failed_guard import without_member
from ..shared.quick_dataclass import dataclass
from .finding import Draft, Finding

_NAME = re.compile(r"[^\W\d]\w*")
_GIVEN = re.compile(r"^(?:return |[\w., ]+ = )")


@dataclass(frozen=True)
class KnownFinding:
    """A finding in a form that is comparable between runs: without line number, path or values.

    `line` is the text of the line, `cause` what tells it from others of its kind in the function.
    """

    identity: str
    kind: str
    file: str
    function: str
    line: str
    cause: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """All but the identity, in the order of the fields."""
        return self.kind, self.file, self.function, self.line, self.cause

    @property
    def calculated(self) -> str:
        """The line without `return`, and without the names that it gives a value to."""
        return _GIVEN.sub("", self.line)


def known_finding(identity: str, finding: Draft | Finding) -> KnownFinding:
    """The comparable form of a finding."""
    file = "" if finding.place is None else finding.place.file.replace("\\", "/").rpartition("/")[2]
    line, cause = (" ".join(text.split()) for text in (finding.source, " ".join(finding.key)))
    return KnownFinding(identity, finding.kind, file, function_of(finding.function), line, cause)


def pair_findings(
    before: Iterable[KnownFinding], after: Iterable[KnownFinding], *, are_of_one_torch: bool = True
) -> dict[str, str]:
    """The identities of the findings of `before` that `after` has as well, each with its identity there.

    Each finding is in one pair at most; the surest trait decides first. Another torch may word the same cause
    in its own way, so that of two torches the same line is enough.
    """
    left, right = list(before), list(after)
    pairs: dict[str, str] = {}
    for trait in _TRAITS if are_of_one_torch else (*_TRAITS, _place):
        waiting: dict[tuple[str, ...], list[KnownFinding]] = {}
        for finding in right:
            waiting.setdefault(trait(finding), []).append(finding)
        waiting.pop((), None)
        for finding in left:
            if same := waiting.get(trait(finding)):
                pairs[finding.identity] = same.pop(0).identity
        paired = set(pairs.values())
        left = [finding for finding in left if finding.identity not in pairs]
        right = [finding for finding in right if finding.identity not in paired]
    return pairs


# The traits, the surest first. One that is empty pairs nothing.


def _identity(finding: KnownFinding) -> tuple[str, ...]:
    return (finding.identity,)


def _cause_at_line(finding: KnownFinding) -> tuple[str, ...]:
    return finding.kind, finding.cause, finding.function, finding.line


def _cause_in_function(finding: KnownFinding) -> tuple[str, ...]:
    """What stays when the line is edited."""
    return finding.kind, finding.cause, finding.file, finding.function


def _cause_and_line(finding: KnownFinding) -> tuple[str, ...]:
    """What stays when the line is moved, its function is renamed, or what it assigned is returned."""
    return (finding.kind, finding.cause, finding.calculated) if finding.line else ()


def _line_without_names(finding: KnownFinding) -> tuple[str, ...]:
    """What stays when variables are renamed: each name of the line is a number, in the cause as well."""
    numbers: dict[str, str] = {}
    line = _NAME.sub(lambda name: numbers.setdefault(name[0], f"_{len(numbers)}"), finding.line)
    cause = _NAME.sub(lambda name: numbers.get(name[0], name[0]), finding.cause)
    return (finding.kind, cause, finding.file, finding.function, line) if line else ()


def _member_of_the_same(finding: KnownFinding) -> tuple[str, ...]:
    """What stays where a line finds members by the order of a set, which is another one in each process."""
    source, _, index = finding.cause.rpartition(" ")
    if not index.isdigit():
        source, index = finding.cause, ""
    owner = without_member(source, finding.line)
    return () if owner is None else (finding.kind, finding.file, finding.function, finding.line, owner, index)


def _place(finding: KnownFinding) -> tuple[str, ...]:
    return (finding.kind, finding.function, finding.line) if finding.line else ()


_TRAITS: tuple[Callable[[KnownFinding], tuple[str, ...]], ...] = (
    _identity,
    _cause_at_line,
    _cause_in_function,
    _cause_and_line,
    _line_without_names,
    _member_of_the_same,
)
