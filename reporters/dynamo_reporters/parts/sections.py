"""Findings, the worst first, as blocks."""

from collections.abc import Iterable, Iterator, Sequence

from dynamo_core.analysis.ranks import compare_ranks
from dynamo_core.analysis.ranks.members import ranks_of
from dynamo_core.analysis.summary import graphs_recorded, probe_failed, were_not_recorded
from dynamo_core.analysis.words import alternatives, number
from dynamo_core.findings import Finding
from dynamo_core.findings.build import by_cause, via_line
from dynamo_core.model import Process, Recording

from ..page.blocks import Block, Bullets, Heading, Paragraph, rest

_SHOWN = 8
_TESTS_SHOWN = 3  # of a finding, where it has room
FINDINGS_TITLE = "Findings"
_FIX = (
    "`dynamo fix` runs the program with such changes and keeps those that measurably help. Your files stay "
    "as they are until `--apply`."
)


def findings_section(
    findings: Sequence[Finding], *, can_run_again: bool, shown: int = _SHOWN
) -> Iterator[Block]:
    """Each of the first findings: where, why, what it costs and what to do.

    `can_run_again` says that the program is known, so that `dynamo fix` can try what is to be done.
    """
    if not findings:
        return
    yield Heading(FINDINGS_TITLE)
    causes = by_cause(findings)
    for finding, followers in causes[:shown]:
        yield Heading(finding.title, 3)
        parts = (finding.source, finding.cause if _says_more(finding) else "", finding.effect)
        if any(parts):
            yield Paragraph("\n".join(filter(None, parts)))
        if finding.via is not None:
            yield Paragraph(via_line(finding))
        if finding.evidence.tests:
            yield Paragraph(tests_line(finding))
        for text in alternatives(remedy.text for remedy in finding.remedies):
            yield Paragraph(f"→ {text}", "advice")
        for follower in followers:
            yield Paragraph(f"because of this: {follower.title}", "dim")
    yield from rest(len(causes) - shown, "finding", "; --format json has all")
    if can_run_again and any(remedy.change for finding in findings for remedy in finding.remedies):
        yield Paragraph(_FIX, "dim")


def tests_line(finding: Finding, shown: int = _TESTS_SHOWN) -> str:
    """The tests in which it was met: `in test_model.py::test_step and 3 more tests`; "" outside of tests."""
    tests = finding.evidence.tests
    rest = len(tests) - shown
    more = f" and {number(rest, 'more test')}" if rest > 0 else ""
    return f"in {', '.join(tests[:shown])}{more}" if tests else ""


def _says_more(finding: Finding) -> bool:
    return bool(finding.cause) and finding.cause not in finding.title


# What a page of one rank says of the others: that the ranks wait for each other, or differ.


def other_ranks_blocks(recording: Recording) -> Iterator[Block]:
    """A line, where one rank was selected of several and they are not all alike."""
    if recording.whole is None or len(ranks_of(recording)) != 1 or len(ranks_of(recording.whole)) < 2:
        return
    verdict = compare_ranks(recording.whole).verdict
    if verdict is not None:
        yield Paragraph(f"All ranks beside each other: {verdict}. `dynamo ranks` says more.", "warning")


# What a page says where it has nothing to show, or not everything, as it was not recorded.


def no_graphs(recording: Recording, there_was_none: str) -> str:
    """`there_was_none`, if that is known; else that graphs were not recorded, and why."""
    if graphs_recorded(recording):
        return there_was_none
    return were_not_recorded("Graphs", recording.processes, "graphs")


def graphs_missing(processes: Iterable[Process]) -> Iterator[Block]:
    """Above the graphs of processes in which not all of them were recorded, and why."""
    processes = list(processes)
    why = probe_failed(processes, "graphs")
    if why is not None:
        shown = any(process.graphs for process in processes)
        yield Paragraph(f"{'Not all graphs' if shown else 'No graph'} could be recorded: {why}", "warning")


def also_missing(process: Process, *probes: str) -> Iterator[Block]:
    """What a page would show beside its subject, and cannot, since these probes failed."""
    failed = [f"{probe}: not recorded ({why})" for probe in probes if (why := probe_failed([process], probe))]
    yield Bullets(failed, "warning")
