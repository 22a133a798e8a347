"""`dynamo check`: the page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from dynamo_core.analysis.words import number, place
from dynamo_core.compare.lock import Checked, Difference
from dynamo_core.findings import Finding
from dynamo_core.model import Recording
from dynamo_core.shared.conversion import from_fields
from dynamo_core.shared.declared import INLINE
from dynamo_core.shared.errors import GotWorse
from dynamo_core.shared.quick_dataclass import dataclass

from .next_commands import what_to_do_first
from .page.blocks import Block, Bullets, Heading, Paragraph
from .parts.sections import tests_line
from .report import Report


def report(
    recording: Recording, findings: Mapping[str, Finding], has_failed: bool = False
) -> Report[Checked]:
    """The report of `dynamo check` on this recording; `findings` are those of all runs, by identity."""
    return Report(
        "check",
        lambda checked: check_blocks(checked, findings, has_failed=has_failed),
        lambda checked: check_document(checked, findings),
        then=lambda subject: [what_to_do_first(recording)],
    )


def check_blocks(
    checked: Checked, findings: Mapping[str, Finding], *, has_failed: bool = False
) -> Iterator[Block]:
    """The page as blocks; `findings` are those of the run, by identity. The program may have failed."""
    yield Heading(f"{checked.program}: {verdict(checked)}", 1)
    yield Paragraph(counts_sentence(checked))
    if has_failed:
        yield Paragraph(
            "The program failed, and the exit code is its own; what it did not reach is missing here.",
            "warning",
        )
    elif checked.worse:
        yield Paragraph(f"The command fails with exit code {GotWorse.exit_code}.")
    if checked.noted:
        yield Paragraph(
            f"Not compared, as it is noted to differ from run to run: {', '.join(checked.noted)}."
        )
    if checked.not_comparable:
        yield Paragraph(f"Not compared, as one side did not record it: {', '.join(checked.not_comparable)}.")
    for title, differences in (
        ("Worse", checked.worse),
        ("Differs from run to run", checked.varying),
        ("New in what is noted to differ from run to run, which does not fail", checked.new_where_noted),
        ("Better", checked.better),
    ):
        if differences:
            yield Heading(title)
            yield from _differences(differences, findings)


def verdict(checked: Checked) -> str:
    """What the check found, in a few words."""
    if not (checked.is_locked or checked.varying):
        return "nothing to compare with"
    if checked.worse:
        return f"worse, {_number_of(checked.worse)}"
    if checked.varying:
        return f"differs from run to run, {_number_of(checked.varying)}"
    if checked.better:
        return f"better, {_number_of(checked.better)}"
    if checked.is_accepted:
        return f"accepted, {number(checked.now.number, 'fact')} written"
    if checked.not_comparable:
        return "unchanged, as far as it was recorded"
    if checked.new_where_noted:
        new = number(len(checked.new_where_noted), "new finding")
        return f"unchanged where it was compared, with {new} in what is noted to differ from run to run"
    if checked.noted:
        return "unchanged where it was compared, which is not what is noted to differ from run to run"
    return "unchanged"


def _number_of(differences: Sequence[Difference]) -> str:
    """Counts that differ come of the findings that do, where there are some: one change is not told twice."""
    findings = sum(each.identity is not None for each in differences)
    return number(findings, "finding") if findings else number(len(differences), "count")


def counts_sentence(checked: Checked) -> str:
    """The counts of the run; of several runs that differ, from which to which."""
    counts = {name: "not recorded" if count is None else count for name, count in checked.now.counts.items()}
    return ", ".join(f"{name} {checked.now.varying.get(name, count)}" for name, count in counts.items()) + "."


def _differences(differences: Sequence[Difference], findings: Mapping[str, Finding]) -> Iterator[Block]:
    """What is a line comes before the findings: below one of them, it would read as a part of it."""
    lines = [each.text for each in differences if each.identity not in findings]
    yield Bullets(lines)
    for each in differences:
        finding = findings.get(each.identity or "")
        if finding is not None:
            yield from _finding(each, finding)


def _finding(difference: Difference, finding: Finding) -> Iterator[Block]:
    yield Heading(difference.text, 3)
    yield Paragraph(f"{place(finding.place)}: {finding.cause}")
    if finding.evidence.tests:
        yield Paragraph(tests_line(finding))
    for remedy in finding.remedies[:1]:
        yield Paragraph(f"→ {remedy.text}", "advice")
    yield Paragraph(f"to allow it: --allow {finding.identity}", "dim")


@dataclass(frozen=True)
class CountValue:
    """A count of the run; null where it was not recorded."""

    name: str
    count: int | None


@dataclass(frozen=True)
class DifferenceValue:
    """One fact that differs from what is locked, or is beyond a bound; `finding` where this run has it."""

    difference: Difference = field(metadata=INLINE)
    finding: Finding | None


@dataclass(frozen=True)
class CheckDocument:
    """What `dynamo check` compared. `is_locked` says whether there was anything to compare with.

    `noted` was not compared, as the lock file notes that it differs from run to run: counts, and functions by
    file and name. `new_where_noted` are findings of these functions, on lines that the lock file has not.
    """

    program: str
    is_locked: bool
    counts: tuple[CountValue, ...]
    differences: tuple[DifferenceValue, ...]
    not_comparable: tuple[str, ...]
    noted: tuple[str, ...]
    new_where_noted: tuple[DifferenceValue, ...]


def check_document(checked: Checked, findings: Mapping[str, Finding]) -> CheckDocument:
    """The document."""

    def values_of(differences: Sequence[Difference]) -> tuple[DifferenceValue, ...]:
        return tuple(DifferenceValue(each, findings.get(each.identity or "")) for each in differences)

    return from_fields(
        CheckDocument,
        checked,
        counts=tuple(CountValue(name, count) for name, count in checked.now.counts.items()),
        differences=values_of(checked.differences),
        new_where_noted=values_of(checked.new_where_noted),
    )
