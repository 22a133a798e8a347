"""Findings, the worst first: as blocks, as lines and as JSON values."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from dynamo_core.analysis.findings import Finding
from dynamo_core.analysis.findings.via_words import via_line
from dynamo_core.analysis.words import alternatives, number

from ..page.blocks import Block, Heading, Paragraph

_SHOWN = 8
_TESTS_SHOWN = 3  # of a finding, where it has room
FINDINGS_TITLE = "Fix first"
_FIX = (
    "`dynamo fix` runs the program with such changes and keeps those that measurably help. Your files stay "
    "as they are until `--apply`."
)


def findings_in_short(findings: Sequence[Finding], command: str) -> Iterator[Block]:
    """A line for each, on the page of a command, and what to do about those that are this page's subject."""
    if not findings:
        return
    yield Heading(FINDINGS_TITLE)
    lines = finding_lines(findings, _SHOWN)
    advised = 0
    for line, finding in zip_longest(lines, findings[:_SHOWN]):
        yield Paragraph(line)
        for remedy in finding.remedies[:1] if finding is not None else ():
            if remedy.check == command:
                advised += 1
                yield Paragraph(f"→ {remedy.text}", "advice")
    yield Paragraph(f"`dynamo explain` says why{_what_else(len(findings), advised)}.", "dim")


def _what_else(findings: int, advised: int) -> str:
    """What explain says besides, of findings of which some have their advice on the page already."""
    if advised == findings:
        return ""
    return ", and what to do about the others" if advised else ", and what to do"


def findings_section(findings: Sequence[Finding], *, can_run_again: bool) -> Iterator[Block]:
    """What to do first: of each finding where, why, what it costs and what to do.

    `can_run_again` says that the program is known, so that `dynamo fix` can try what is to be done.
    """
    if not findings:
        return
    yield Heading(FINDINGS_TITLE)
    for finding in findings[:_SHOWN]:
        yield Heading(finding.title, 3)
        said = (finding.source, finding.cause if _says_more(finding) else "", finding.effect)
        if any(said):
            yield Paragraph("\n".join(filter(None, said)))
        if finding.via is not None:
            yield Paragraph(via_line(finding))
        if finding.evidence.tests:
            yield Paragraph(tests_line(finding))
        for text in alternatives(remedy.text for remedy in finding.remedies):
            yield Paragraph(f"→ {text}", "advice")
    if len(findings) > _SHOWN:
        yield Paragraph(
            f"… and {number(len(findings) - _SHOWN, 'more finding')}; --format json has all", "dim"
        )
    if can_run_again and any(remedy.change for finding in findings for remedy in finding.remedies):
        yield Paragraph(_FIX, "dim")


def tests_line(finding: Finding, shown: int = _TESTS_SHOWN) -> str:
    """The tests in which it was met: `in test_model.py::test_step and 3 more tests`; "" outside of tests."""
    tests = finding.evidence.tests
    rest = len(tests) - shown
    more = f" and {number(rest, 'more test')}" if rest > 0 else ""
    return f"in {', '.join(tests[:shown])}{more}" if tests else ""


def finding_lines(findings: Sequence[Finding], shown: int) -> list[str]:
    """A line for each of the first ones."""
    lines = [
        ", ".join(filter(None, (f"{rank}. {finding.title}", tests_line(finding, 1))))
        for rank, finding in enumerate(findings[:shown], 1)
    ]
    rest = len(findings) - shown
    return lines + ([f"… and {number(rest, 'more finding')}"] if rest > 0 else [])


def _says_more(finding: Finding) -> bool:
    return bool(finding.cause) and finding.cause not in finding.title
