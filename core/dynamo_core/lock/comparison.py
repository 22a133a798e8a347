"""What got worse and what got better: the facts of a run beside those that are locked, or beside bounds."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Literal

from ..analysis.not_recorded import could_be_seen
from ..shared.quick_dataclass import dataclass
from .facts import COUNTS, Facts, KnownFinding

_NAME = re.compile(r"[^\W\d]\w*")

Direction = Literal["worse", "better"]


@dataclass(frozen=True)
class Difference:
    """One fact that differs. `identity` names the finding, where it is one."""

    direction: Direction
    text: str
    identity: str | None = None


@dataclass(frozen=True)
class Bounds:
    """What may be at most, by the names of counts; `allowed` are identities of findings that may be there.

    Findings of a bounded count are listed as worse where the bound is broken.
    """

    most: Mapping[str, int] = field(default_factory=dict)
    allowed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Checked:
    """The verdict on one program. `not_comparable` are counts that one side did not record,
    `unbounded` those of them that have a bound, of which nobody knows whether it holds.

    `is_locked` says whether there was anything to compare with, `is_accepted` that these facts have just
    become what is locked.
    """

    program: str
    now: Facts
    is_locked: bool
    differences: tuple[Difference, ...] = ()
    not_comparable: tuple[str, ...] = ()
    unbounded: tuple[str, ...] = ()
    is_accepted: bool = False

    @property
    def worse(self) -> list[Difference]:
        """What got worse."""
        return [each for each in self.differences if each.direction == "worse"]

    @property
    def better(self) -> list[Difference]:
        """What got better."""
        return [each for each in self.differences if each.direction == "better"]


def check(program: str, now: Facts, locked: Facts | None, bounds: Bounds | None) -> Checked:
    """Compare a run with what is locked, and with bounds; either may be absent."""
    differences: list[Difference] = []
    not_comparable: list[str] = []
    unbounded: list[str] = []
    if locked is not None:
        came, went = _unmatched(now.findings, locked.findings)
        went = [each for each in went if could_be_seen(each.kind, now.count_of)]
        allowed = bounds.allowed if bounds is not None else frozenset()
        let_in = [each for each in came if each.identity in allowed]
        came = [each for each in came if each.identity not in allowed]
        differences += [Difference("worse", f"new: {_said(each)}", each.identity) for each in came]
        differences += [Difference("better", f"gone: {_said(each)}", each.identity) for each in went]
        for name in COUNTS:
            was, is_now = locked.counts.get(name), now.counts.get(name)
            if was is None or is_now is None:
                not_comparable.append(name)
            elif was != is_now and not _comes_of(let_in, name, is_now - was):
                differences.append(_of_counts(name, was, is_now))
    if bounds is not None:
        for name, most in bounds.most.items():
            is_now = now.counts.get(name)
            if is_now is None:
                not_comparable.append(name)
                unbounded.append(name)
                continue
            is_now -= _allowed(name, now, bounds)
            if is_now > most:
                differences.append(Difference("worse", f"{name}: {is_now}, at most {most} allowed"))
                if locked is None:
                    differences += _to_blame(name, now, bounds)
    has_bounds = bounds is not None and bool(bounds.most)
    unique = tuple(dict.fromkeys(differences))
    return Checked(
        program,
        now,
        locked is not None or has_bounds,
        unique,
        tuple(dict.fromkeys(not_comparable)),
        tuple(unbounded),
    )


# The kinds of findings that a count counts.
_KINDS: Mapping[str, tuple[str, ...]] = {
    "graphs": ("graph break", "recompile", "recompile limit", "compiled anew"),
    "graph-breaks": ("graph break", "fell back to eager"),
    "recompiles": ("recompile", "recompile limit", "compiled anew"),
    "frames-run-eager": ("fell back to eager",),
}


def _comes_of(let_in: Sequence[KnownFinding], name: str, more: int) -> bool:
    """Whether findings that are allowed may account for so many more: a break of its own makes graphs too."""
    counted = sum(each.kind in _KINDS[name] for each in let_in)
    return more > 0 and counted > 0 and (name != "graph-breaks" or more <= counted)


def _of_counts(name: str, was: int, is_now: int) -> Difference:
    if name == "graphs" and is_now == 0:
        return Difference("worse", f"{name}: {was} → 0, nothing is compiled any more")
    return Difference("worse" if is_now > was else "better", f"{name}: {was} → {is_now}")


def _to_blame(name: str, now: Facts, bounds: Bounds) -> list[Difference]:
    return [
        Difference("worse", _said(each), each.identity)
        for each in now.findings.values()
        if each.kind in _KINDS[name] and each.identity not in bounds.allowed
    ]


def _allowed(name: str, now: Facts, bounds: Bounds) -> int:
    """How many of the breaks are allowed by name: the other counts are not counts of findings."""
    if name != "graph-breaks":
        return 0
    return sum(each.identity in bounds.allowed for each in now.findings.values() if each.kind in _KINDS[name])


def _unmatched(
    now: Mapping[str, KnownFinding], locked: Mapping[str, KnownFinding]
) -> tuple[list[KnownFinding], list[KnownFinding]]:
    """Findings of one side alone. One whose function or whose line's names were renamed is the same one."""
    came = [each for identity, each in now.items() if identity not in locked]
    went = [each for identity, each in locked.items() if identity not in now]
    for is_same in (_same_line, _same_function):
        for each in sorted(came, key=lambda each: each.identity):  # whatever order they were found in
            other = next((other for other in went if is_same(each, other)), None)
            if other is not None:
                came.remove(each)
                went.remove(other)
    return came, went


def _same_line(one: KnownFinding, other: KnownFinding) -> bool:
    return one.kind == other.kind and bool(one.line) and one.line == other.line


def _same_function(one: KnownFinding, other: KnownFinding) -> bool:
    return (one.kind, one.file, one.function, _shape(one)) == (
        *(other.kind, other.file, other.function, _shape(other)),
    )


def _shape(finding: KnownFinding) -> str:
    """The line with every name alike."""
    return _NAME.sub("_", finding.line)


def _said(finding: KnownFinding) -> str:
    where = " ".join(part for part in (finding.file, finding.function) if part)
    line = f": {finding.line}" if finding.line else ""
    return f"{finding.kind} in {where or 'the program'}{line}"
