"""Match the findings of two runs: by identity, else by what stays when code is renamed or moved."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ..analysis.summary import summarize
from ..analysis.words import without_numbers
from ..findings import OF_THE_COMPILER, Finding
from ..findings.kinds import could_be_seen
from ..model import Recording, function_of
from ..shared.quick_dataclass import dataclass
from .difference import FindingChange
from .graph_pairs import torch_versions


def renamed_functions(before: Recording, after: Recording) -> dict[str, str]:
    """The new name of each function that only `before` has, where one in `after` has exactly the same graphs.

    The code after a graph break counts as part of its function.
    """
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


def _by_graphs(graphs_of: Mapping[str, list[str]], names: Iterable[str]) -> dict[tuple[str, ...], str]:
    """Functions by their graphs, without functions that have the same graphs as another one."""
    found: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        found.setdefault(tuple(sorted(graphs_of[name])), []).append(name)
    return {graphs: same[0] for graphs, same in found.items() if len(same) == 1}


# Matching of findings

_NAME = re.compile(r"[^\W\d]\w*")
# The subject of a guard in a cause: "size of x at dimension 0 is not what it was compiled for".
_SUBJECT = re.compile(r"(?<= of )\S+")
Trait = Callable[[Finding], tuple[str, ...] | None]


@dataclass(frozen=True)
class MatchedFindings:
    """The findings of one side alone, in their original order, and the pairs of both sides."""

    added: tuple[Finding, ...]
    removed: tuple[Finding, ...]
    both: tuple[FindingChange, ...]

    @property
    def changed(self) -> tuple[FindingChange, ...]:
        """The pairs that were met a different number of times."""
        return tuple(pair for pair in self.both if pair.before.evidence.times != pair.after.evidence.times)


def of_the_compiler(findings: Sequence[Finding]) -> list[Finding]:
    """The findings of kinds that are the same in every run of a program."""
    return [finding for finding in findings if finding.kind in OF_THE_COMPILER]


def match_findings(
    before: Sequence[Finding], after: Sequence[Finding], names: "FunctionNames"
) -> MatchedFindings:
    """Pair findings by the surest trait first; each finding is in one pair at most."""
    left, right = list(before), list(after)
    both: list[FindingChange] = []
    for trait_before, trait_after in _traits(before, after, names):
        waiting: dict[tuple[str, ...], list[Finding]] = {}
        for finding in right:
            trait = trait_after(finding)
            if trait is not None:
                waiting.setdefault(trait, []).append(finding)
        paired: set[int] = set()
        for finding in left:
            trait = trait_before(finding)
            same = waiting.get(trait) if trait is not None else None
            if same:
                both.append(FindingChange(finding, same.pop(0)))
                paired |= {id(both[-1].before), id(both[-1].after)}
        left = [finding for finding in left if id(finding) not in paired]
        right = [finding for finding in right if id(finding) not in paired]
    return MatchedFindings(tuple(right), tuple(left), tuple(both))


def without_unrecorded(found: MatchedFindings, before: Recording, after: Recording) -> MatchedFindings:
    """Without findings that only one side could record: they need not be a difference."""
    was, now = (partial(getattr, summarize(recording)) for recording in (before, after))

    def is_comparable(finding: Finding) -> bool:
        return could_be_seen(finding.kind, was) == could_be_seen(finding.kind, now)

    added, removed = (tuple(filter(is_comparable, side)) for side in (found.added, found.removed))
    return replace(found, added=added, removed=removed)


class FunctionNames:
    """The names of functions on both sides, and the names that their source has there."""

    def __init__(self, before: Recording, after: Recording) -> None:
        self.renames = renamed_functions(before, after)
        self.of_before, self.of_after = _words(before), _words(after)
        self.are_of_one_torch = torch_versions(before) == torch_versions(after)


def _words(recording: Recording) -> dict[str, set[str]]:
    """The names in the source of each function, as far as it was recorded."""
    found: dict[str, set[str]] = {}
    for process in recording.processes:
        for code in process.bytecodes:
            words = found.setdefault(function_of(code.name), set())
            for text in code.source.values():
                words.update(_NAME.findall(text))
    return found


def _traits(
    before: Sequence[Finding], after: Sequence[Finding], names: FunctionNames
) -> list[tuple[Trait, Trait]]:
    """The traits by which findings are paired: functions of a finding of `before`, and of one of `after`."""
    of_before, of_after = ({function_of(f.function) for f in side} for side in (before, after))

    def new_name(finding: Finding) -> str:
        name = function_of(finding.function)
        return names.renames.get(name, name)

    def own_name(finding: Finding) -> str:
        return function_of(finding.function)

    def with_renamed(
        finding: Finding, function: str, others: Mapping[str, set[str]]
    ) -> tuple[str, ...] | None:
        """The cause, without names of locals that the other side's function does not have."""
        words = others.get(function)
        if words is None:
            return None
        cause = _SUBJECT.sub(
            lambda subject: _NAME.sub(lambda n: n[0] if n[0] in words else "_", subject[0]), _cause(finding)
        )
        return (finding.kind, cause, function) if cause != _cause(finding) else None

    def of_one_side(finding: Finding, others: Collection[str]) -> tuple[str, ...] | None:
        """Kind and cause, for a function without findings on the other side, where its name may differ."""
        return (finding.kind, _cause(finding)) if own_name(finding) not in others else None

    traits: list[tuple[Trait, Trait]] = [
        (_identity, _identity),
        (
            lambda f: (f.kind, _cause(f), new_name(f), _line(f)),
            lambda f: (f.kind, _cause(f), own_name(f), _line(f)),
        ),
        (lambda f: (f.kind, _cause(f), new_name(f)), lambda f: (f.kind, _cause(f), own_name(f))),
        (_cause_and_line, _cause_and_line),
        (
            lambda f: with_renamed(f, new_name(f), names.of_after),
            lambda f: with_renamed(
                f, own_name(f), {names.renames.get(n, n): w for n, w in names.of_before.items()}
            ),
        ),
        (lambda f: of_one_side(f, of_after), lambda f: of_one_side(f, of_before)),
    ]
    if not names.are_of_one_torch:  # another torch may word the same cause differently
        traits.append((lambda f: _at_a_line(f, new_name(f)), lambda f: _at_a_line(f, own_name(f))))
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
    """The cause without values: which sizes occurred depends on the run."""
    return without_numbers(finding.cause)


def _line(finding: Finding) -> str:
    return " ".join(finding.source.split())
