"""The findings and the functions of two runs: those that both have, under whatever name."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ..analysis.summary import summarize
from ..analysis.verification import verification
from ..analysis.words import place
from ..findings import OF_THE_COMPILER, Finding, find
from ..findings.kinds import could_be_seen, spec_of
from ..findings.matching import KnownFinding, known_finding, pair_findings
from ..findings.since import Since
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
    before: Sequence[Finding], after: Sequence[Finding], *, are_of_one_torch: bool
) -> MatchedFindings:
    """The findings of one side alone, and the pairs of those that are the same (`pair_findings`)."""
    now = {finding.identity: finding for finding in after}
    pairs = pair_findings(*map(_known, (before, after)), are_of_one_torch=are_of_one_torch)
    paired = set(pairs.values())
    return MatchedFindings(
        tuple(finding for finding in after if finding.identity not in paired),
        tuple(finding for finding in before if finding.identity not in pairs),
        tuple(FindingChange(each, now[pairs[each.identity]]) for each in before if each.identity in pairs),
    )


def _known(findings: Iterable[Finding]) -> list[KnownFinding]:
    return [known_finding(finding.identity, finding) for finding in findings]


def without_unrecorded(found: MatchedFindings, before: Recording, after: Recording) -> MatchedFindings:
    """Without findings that only one side could record: they need not be a difference."""
    was, now = (partial(getattr, summarize(recording)) for recording in (before, after))
    are_verified_alike = (verification(before) is None) == (verification(after) is None)

    def is_comparable(finding: Finding) -> bool:
        is_known = are_verified_alike or not spec_of(finding.kind).is_found_by_verify
        return is_known and could_be_seen(finding.kind, was) == could_be_seen(finding.kind, now)

    added, removed = (tuple(filter(is_comparable, side)) for side in (found.added, found.removed))
    return replace(found, added=added, removed=removed)


def since(before: Recording, after: Recording) -> Since:
    """What became of the findings of the run before."""
    was, now = (of_the_compiler(find(each)) for each in (before, after))
    are_of_one_torch = torch_versions(before) == torch_versions(after)
    matched = match_findings(was, now, are_of_one_torch=are_of_one_torch)
    found = without_unrecorded(matched, before, after)
    is_first_verified = verification(before) is None and verification(after) is not None
    of_verify = [each for each in matched.added if spec_of(each.kind).is_found_by_verify]
    gone, new, by_verify = (
        [f"{each.kind} at {place(each.place)}" for each in side]
        for side in (found.removed, found.added, of_verify if is_first_verified else ())
    )
    return Since(before.address, gone, new, len(found.both), by_verify=by_verify)
