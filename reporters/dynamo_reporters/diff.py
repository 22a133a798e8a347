"""`dynamo diff`: the page."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from dynamo_core.analysis.graphs.nodes import TIMES
from dynamo_core.analysis.words import memory, place, seconds
from dynamo_core.compare.counts import SAVED
from dynamo_core.compare.difference import (
    CountChange,
    Difference,
    FindingChange,
    GraphChange,
    GuardChange,
    Time,
)
from dynamo_core.compare.lock import Checked, LockedDifference, Verdict
from dynamo_core.compare.lock import Difference as LockDifference
from dynamo_core.findings import Finding, actions_of
from dynamo_core.findings.build import via_line
from dynamo_core.findings.finding import NOT_RECORDED
from dynamo_core.model import Recording
from dynamo_core.shared.conversion import from_fields
from dynamo_core.shared.declared import At
from dynamo_core.shared.quick_dataclass import dataclass

from .diff_graphs import changes_in, sentence
from .next_commands import what_to_do_first
from .page.blocks import Block, Bullets, Heading, Paragraph, rest, section, table
from .parts.actions import what_is_cured
from .report import Report

_ADDED, _REMOVED = "Added", "Removed"
_SHOWN = 20  # of each kind; the document has all
_GUARDS_SHOWN = 8  # of a function one by one


def report(before: Recording, after: Recording) -> Report[Difference]:
    """The report of `dynamo diff` on these two recordings."""
    return Report(
        "diff",
        lambda difference: diff_blocks(difference, before, after),
        lambda difference: DiffDocument(_side(before), _side(after), difference),
        then=lambda subject: [what_to_do_first(after)],
    )


def locked_report(before: Path, after: Path) -> Report[LockedDifference]:
    """The report of `dynamo diff` where a side is a lock file."""
    return Report(
        "diff-locked",
        lambda difference: locked_blocks(difference, before, after),
        lambda difference: locked_document(difference, before, after),
    )


def diff_blocks(difference: Difference, before: Recording, after: Recording) -> Iterator[Block]:
    """The page as blocks."""
    yield Heading(difference.sentence, 1)
    yield Paragraph(f"before: {_run(before)}\nafter:  {_run(after)}", "dim")
    effects: dict[str, list[GraphChange]] = {}
    for change in difference.graphs:
        effects.setdefault(change.because or "", []).append(change)
    unexplained = effects.pop("", [])
    of_torch = set(difference.of_torch)
    for title, findings in ((_ADDED, difference.came), (_REMOVED, difference.went)):
        yield from _findings(title, [f for f in findings if f.identity not in of_torch], effects)
    yield from _met_otherwise(difference.changed, effects)
    yield from _graphs("Graphs", [change for change in unexplained if not change.is_of_torch])
    yield from _guards([change for change in difference.guards if not change.is_of_torch])
    yield from _of_torch(difference, [change for change in unexplained if change.is_of_torch], effects)
    yield from _counts(difference.counts)
    yield from _times(difference.times)
    yield from section(
        "What the runs ran under",
        table("|before|after", [[each.name, each.before, each.after] for each in difference.conditions]),
    )
    yield from section("Not compared", Bullets(_first(difference.not_compared), "warning"))


def _run(recording: Recording) -> str:
    versions = {process.torch_version for process in recording.processes}
    known = [f"torch {version}" for version in sorted(filter(None, versions))]
    program = recording.run.program if recording.run is not None else None
    return ", ".join(filter(None, [recording.address, program, *known]))


def _findings(
    title: str, findings: Sequence[Finding], effects: dict[str, list[GraphChange]]
) -> Iterator[Block]:
    """What is there on one side alone, the worst first; what one remedy cures stands together."""
    if not findings:
        return
    by_identity = {finding.identity: finding for finding in findings}
    actions = actions_of(findings, lambda cured: NOT_RECORDED)
    yield Heading(title)
    for action in actions[:_SHOWN]:
        cured = [by_identity[identity] for identity in action.cures]
        yield Heading(what_is_cured(action, cured), 3)
        about = _about(cured[0]) if len(cured) == 1 else []
        if about:
            yield Paragraph("\n".join(about))
        of_graphs = [change for finding in cured for change in effects.get(finding.identity, [])]
        yield Bullets(_first(list(dict.fromkeys(map(sentence, of_graphs)))))
        if title == _ADDED and action.remedy is not None:
            yield Paragraph(f"→ {action.remedy.text}", "advice")
    not_shown = sum(len(action.cures) for action in actions[_SHOWN:])
    yield from rest(not_shown, "finding", "; --format json has all")


def _about(finding: Finding) -> list[str]:
    """Its line, its cause, and where it was called."""
    cause = "" if finding.cause in finding.title else finding.cause
    return list(filter(None, (finding.source, cause, via_line(finding))))


def _met_otherwise(
    changes: Sequence[FindingChange], effects: dict[str, list[GraphChange]]
) -> Iterator[Block]:
    """What both runs have, with both lines where these are not the same."""
    if not changes:
        return
    yield Heading("Count changed")
    for change in changes[:_SHOWN]:
        was, now = change.before, change.after
        yield Heading(
            f"{now.kind} at {place(now.place)}: {was.evidence.times} → {now.evidence.times} times", 3
        )
        lines = [now.source, now.cause]
        if was.source != now.source:
            lines = [f"before: {was.source}", f"after: {now.source}", now.cause]
        yield Paragraph("\n".join(filter(None, lines)))
        found = [*effects.get(now.identity, []), *effects.get(was.identity, [])]
        if found:
            yield Bullets(_first(list(dict.fromkeys(map(sentence, found)))))
    yield from rest(len(changes) - _SHOWN, "finding", "; --format json has all")


def _of_torch(
    difference: Difference, graphs: Sequence[GraphChange], effects: dict[str, list[GraphChange]]
) -> Iterator[Block]:
    """What another torch did to functions that read the same on both sides."""
    of_torch = set(difference.of_torch)
    guards = [change for change in difference.guards if change.is_of_torch]
    if not of_torch and not graphs and not guards:
        return
    yield Heading("From another torch")
    yield Paragraph("In functions whose own lines are the same on both sides.", "dim")
    for title, findings in ((_ADDED, difference.came), (_REMOVED, difference.went)):
        yield from _findings(title, [f for f in findings if f.identity in of_torch], effects)
    yield from _graphs("Graphs", graphs)
    yield from _guards(guards)


def _guards(changes: Sequence[GuardChange]) -> Iterator[Block]:
    """Guards that came and went, by function."""
    if not changes:
        return
    yield Heading("Guards")
    for function in dict.fromkeys(change.function for change in changes):
        of_function = [change for change in changes if change.function == function]
        yield Heading(function or "no function", 3)
        yield Bullets(_first(_guard_lines(of_function)))


def _guard_lines(changes: Sequence[GuardChange]) -> list[str]:
    """One for each; where there are many, for each type the first of which the line is known."""
    if len(changes) <= _GUARDS_SHOWN:
        return [_guard(change, abs(change.count)) for change in changes]
    alike: dict[tuple[bool, str], list[GuardChange]] = {}
    for change in changes:
        alike.setdefault((change.count > 0, change.type), []).append(change)
    return [
        _guard(min(same, key=lambda change: not change.text), sum(abs(change.count) for change in same))
        for same in alike.values()
    ]


def _guard(change: GuardChange, times: int) -> str:
    what = "added" if change.count > 0 else "removed"
    count = "" if times == 1 else f"{times} {TIMES} "
    text = f" `{change.text}`" if change.text else ""
    where = f" at {place(change.place)}{text}" if change.place is not None else ""
    source = f"{change.source}: " if change.source else ""
    first = "first " if times > abs(change.count) else ""
    return f"{what}: {count}{change.type} {first}{source}{change.demands}{where}"


def _graphs(title: str, changes: Sequence[GraphChange]) -> Iterator[Block]:
    if not changes:
        return
    yield Heading(title)
    for change in changes[:_SHOWN]:
        details = list(changes_in(change))
        yield Heading(sentence(change), 3)
        if details:
            yield Bullets(_first(details))
    yield from rest(len(changes) - _SHOWN, "change", "; --format json has all")


def _counts(counts: Sequence[CountChange]) -> Iterator[Block]:
    if not counts:
        return
    yield Heading("Counts")
    rows = [_row(count) for count in counts[:_SHOWN]]
    yield table("|before>|after>|>", rows)
    yield from rest(len(counts) - _SHOWN, "count", "; --format json has all")


def _row(count: CountChange) -> list[str]:
    name = count.name if count.function is None else f"{count.name} of {count.function or 'no function'}"
    change = count.after - count.before
    if count.name == SAVED:
        sign = "+" if change > 0 else "-"
        return [
            "saved for the backward",
            memory(count.before),
            memory(count.after),
            sign + memory(abs(change)),
        ]
    return [name, f"{count.before:,}", f"{count.after:,}", f"{change:+,}"]


def _times(times: Sequence[Time]) -> Iterator[Block]:
    if not times:
        return
    yield Heading("Times")
    rows = [
        [
            each.name,
            _with_range(each.before, each.before_range),
            _with_range(each.after, each.after_range),
            each.why,
        ]
        for each in times
    ]
    yield table("|before|after|", rows)


def _with_range(value: float | None, known: tuple[float, ...] | None) -> str:
    if known is None or len(known) != 2:
        return seconds(value)
    return f"{seconds(value)} ({seconds(known[0])} to {seconds(known[1])})"


def _first(lines: Sequence[str]) -> list[str]:
    rest = len(lines) - _SHOWN
    return [*lines[:_SHOWN], *([f"… and {rest} more; --format json has all"] if rest > 0 else [])]


@dataclass(frozen=True)
class Side:
    """One of the two recordings."""

    recording: Annotated[str, At("address")]
    is_partial: bool
    program: Annotated[str | None, At("run.program")]
    torch: str | None


@dataclass(frozen=True)
class DiffDocument:
    """Two recordings and what differs between them."""

    before: Side
    after: Side
    difference: Difference


def _side(recording: Recording) -> Side:
    versions = [process.torch_version for process in recording.processes if process.torch_version]
    return from_fields(Side, recording, torch=versions[0] if versions else None)


def locked_blocks(difference: LockedDifference, before: Path, after: Path) -> Iterator[Block]:
    """The page as blocks."""
    yield Heading(difference.sentence, 1)
    yield Paragraph(f"before: {before}\nafter:  {after}", "dim")
    for program in difference.differing:
        yield Heading(program.program)
        yield Bullets(
            [_line(each, difference) for each in (*program.worse, *program.varying, *program.better)]
        )
    for title, names in ((_ADDED, difference.only_after), (_REMOVED, difference.only_before)):
        yield from section(title, Bullets(list(names)))
    unknown = [_not_compared(program) for program in difference.programs if program.not_comparable]
    yield from section("Not compared", Bullets(unknown, "warning"))


def _line(fact: LockDifference, difference: LockedDifference) -> str:
    finding = difference.findings.get(fact.identity or "")
    where = f", at {place(finding.place)}" if finding is not None and finding.place is not None else ""
    return f"{fact.direction}: {fact.text}{where}"


def _not_compared(program: Checked) -> str:
    return f"{program.program}: not recorded on both sides: {', '.join(program.not_comparable)}"


@dataclass(frozen=True)
class ProgramValue:
    """What differs of a program, and the counts that one side did not record."""

    program: str
    differences: tuple[LockDifference, ...]
    not_comparable: tuple[str, ...]


@dataclass(frozen=True)
class LockedDocument:
    """What differs between two lock files, or a lock file and a recording."""

    before: str
    after: str
    verdict: Verdict
    sentence: str
    programs: tuple[ProgramValue, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]


def locked_document(difference: LockedDifference, before: Path, after: Path) -> LockedDocument:
    """The document."""
    programs = tuple(from_fields(ProgramValue, each) for each in difference.programs)
    return from_fields(LockedDocument, difference, before=str(before), after=str(after), programs=programs)
