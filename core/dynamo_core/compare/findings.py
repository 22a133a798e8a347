"""Findings of two runs, matched: by identity, else by what stays when something is renamed or moved."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ..analysis.summary import could_be_seen, summarize
from ..analysis.words import without_numbers
from ..findings import OF_THE_COMPILER, Finding
from ..model import Recording, function_of
from ..shared.quick_dataclass import dataclass
from .difference import FindingChange

# Functions as two runs have them: what goes on behind a break is the same one, and so is a renamed one.


def renamed(before: Recording, after: Recording) -> dict[str, str]:
    """The new names of functions that only `before` has: those whose graphs are the same, and no other's."""
    was, now = _graphs_by_function(before), _graphs_by_function(after)
    gone = _by_graphs(was, was.keys() - now.keys())
    fresh = _by_graphs(now, now.keys() - was.keys())
    return {gone[graphs]: fresh[graphs] for graphs in gone.keys() & fresh.keys()}


def _graphs_by_function(recording: Recording) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for process in recording.processes:
        for graph in process.compiled_graphs:
            if graph.key is not None:
                found.setdefault(function_of(graph.frame_name), []).append(graph.key)
    return found


def _by_graphs(of: Mapping[str, list[str]], names: Iterable[str]) -> dict[tuple[str, ...], str]:
    """Functions by their graphs, without those that share theirs with another one."""
    found: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        found.setdefault(tuple(sorted(of[name])), []).append(name)
    return {graphs: same[0] for graphs, same in found.items() if len(same) == 1}


# Findings of two runs, matched:


_NAME = re.compile(r"[^\W\d]\w*")
# What a guard is about, as findings word it: "size of x at dimension 0 is not what it was compiled for".
_SUBJECT = re.compile(r"(?<= of )\S+")
Trait = Callable[[Finding], tuple[str, ...] | None]


@dataclass(frozen=True)
class MatchedFindings:
    """Those of one side alone, ranked as they were, and those of both."""

    came: tuple[Finding, ...]
    went: tuple[Finding, ...]
    both: tuple[FindingChange, ...]

    @property
    def changed(self) -> tuple[FindingChange, ...]:
        """Those that were met another number of times."""
        return tuple(pair for pair in self.both if pair.before.evidence.times != pair.after.evidence.times)


def of_the_compiler(findings: Sequence[Finding]) -> list[Finding]:
    """Those that are the same in every run of a program."""
    return [finding for finding in findings if finding.kind in OF_THE_COMPILER]


def match_findings(
    before: Sequence[Finding], after: Sequence[Finding], names: "NamesOfBoth"
) -> MatchedFindings:
    """Pairs by the surest trait first; each finding is in one pair at most."""
    left, right = list(before), list(after)
    both: list[FindingChange] = []
    for of_before, of_after in _traits(before, after, names):
        waiting: dict[tuple[str, ...], list[Finding]] = {}
        for finding in right:
            trait = of_after(finding)
            if trait is not None:
                waiting.setdefault(trait, []).append(finding)
        paired: set[int] = set()
        for finding in left:
            trait = of_before(finding)
            same = waiting.get(trait) if trait is not None else None
            if same:
                both.append(FindingChange(finding, same.pop(0)))
                paired |= {id(both[-1].before), id(both[-1].after)}
        left = [finding for finding in left if id(finding) not in paired]
        right = [finding for finding in right if id(finding) not in paired]
    return MatchedFindings(tuple(right), tuple(left), tuple(both))


def as_far_as_recorded(found: MatchedFindings, before: Recording, after: Recording) -> MatchedFindings:
    """Without those of one side that only that side could see: they need be no difference."""
    was, now = (partial(getattr, summarize(recording)) for recording in (before, after))

    def is_of_both(finding: Finding) -> bool:
        return could_be_seen(finding.kind, was) == could_be_seen(finding.kind, now)

    came, went = (tuple(filter(is_of_both, side)) for side in (found.came, found.went))
    return replace(found, came=came, went=went)


class NamesOfBoth:
    """What functions are called on both sides, and which names stand in their source there."""

    def __init__(self, before: Recording, after: Recording) -> None:
        self.renames = renamed(before, after)
        self.of_before, self.of_after = _words(before), _words(after)
        self.are_of_one_torch = _versions(before) == _versions(after)


def _versions(recording: Recording) -> set[str | None]:
    return {process.torch_version for process in recording.processes}


def _words(recording: Recording) -> dict[str, set[str]]:
    """The names in the source of each function, as far as that was recorded."""
    found: dict[str, set[str]] = {}
    for process in recording.processes:
        for code in process.bytecodes:
            words = found.setdefault(function_of(code.name), set())
            for text in code.source.values():
                words.update(_NAME.findall(text))
    return found


def _traits(
    before: Sequence[Finding], after: Sequence[Finding], names: NamesOfBoth
) -> list[tuple[Trait, Trait]]:
    """What pairs are made by, as it is read from a finding of either side."""
    of_before, of_after = ({function_of(f.function) for f in side} for side in (before, after))

    def now(finding: Finding) -> str:
        name = function_of(finding.function)
        return names.renames.get(name, name)

    def then(finding: Finding) -> str:
        return function_of(finding.function)

    def with_renamed(
        finding: Finding, function: str, others: Mapping[str, set[str]]
    ) -> tuple[str, ...] | None:
        """With a local's name left open, where the other side's function has none of this name."""
        words = others.get(function)
        if words is None:
            return None
        cause = _SUBJECT.sub(
            lambda of: _NAME.sub(lambda n: n[0] if n[0] in words else "_", of[0]), _cause(finding)
        )
        return (finding.kind, cause, function) if cause != _cause(finding) else None

    def of_one_side(finding: Finding, others: Collection[str]) -> tuple[str, ...] | None:
        """For a function that the other side has nothing of: it may have another name there."""
        return (finding.kind, _cause(finding)) if then(finding) not in others else None

    traits: list[tuple[Trait, Trait]] = [
        (_identity, _identity),
        (lambda f: (f.kind, _cause(f), now(f), _line(f)), lambda f: (f.kind, _cause(f), then(f), _line(f))),
        (lambda f: (f.kind, _cause(f), now(f)), lambda f: (f.kind, _cause(f), then(f))),
        (_cause_and_line, _cause_and_line),
        (
            lambda f: with_renamed(f, now(f), names.of_after),
            lambda f: with_renamed(
                f, then(f), {names.renames.get(n, n): w for n, w in names.of_before.items()}
            ),
        ),
        (lambda f: of_one_side(f, of_after), lambda f: of_one_side(f, of_before)),
    ]
    if not names.are_of_one_torch:  # which may word the same cause in another way
        traits.append((lambda f: _at_a_line(f, now(f)), lambda f: _at_a_line(f, then(f))))
    return traits


def _identity(finding: Finding) -> tuple[str, ...]:
    return (finding.identity,)


def _cause_and_line(finding: Finding) -> tuple[str, ...] | None:
    line = _line(finding)
    return (finding.kind, _cause(finding), line) if line else None


def _at_a_line(finding: Finding, function: str) -> tuple[str, ...] | None:
    line = _line(finding)
    return (finding.kind, function, line) if line else None


def _cause(finding: Finding) -> str:
    """Why, without values: which sizes came is of the run."""
    return without_numbers(finding.cause)


def _line(finding: Finding) -> str:
    return " ".join(finding.source.split())
