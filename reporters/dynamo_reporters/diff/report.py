"""`dynamo diff`: the page."""

from collections.abc import Iterator, Sequence

from dynamo_core.analysis.findings import Finding
from dynamo_core.analysis.words import memory, number, place, seconds
from dynamo_core.compare.counts import SAVED
from dynamo_core.compare.difference import CountChange, Difference, FindingChange, GraphChange, Time
from dynamo_core.model import Recording

from ..page.blocks import Block, Bullets, Heading, Paragraph, table
from .graph_sentences import changes_in, sentence

_SHOWN = 20  # of each kind; the document has all


def diff_blocks(difference: Difference, before: Recording, after: Recording) -> Iterator[Block]:
    """The page as blocks."""
    yield Heading(difference.sentence, 1)
    yield Paragraph(f"before: {_run(before)}\nafter:  {_run(after)}", "dim")
    effects: dict[str, list[GraphChange]] = {}
    for change in difference.graphs:
        effects.setdefault(change.because or "", []).append(change)
    unexplained = effects.pop("", [])
    yield from _findings("Came", difference.came, effects)
    yield from _findings("Went", difference.went, effects)
    yield from _met_otherwise(difference.changed, effects)
    yield from _graphs(unexplained)
    yield from _counts(difference.counts)
    yield from _times(difference.times)
    if difference.conditions:
        yield Heading("What the runs ran under")
        yield table("|before|after", [[each.name, each.before, each.after] for each in difference.conditions])
    if difference.not_compared:
        yield Heading("Not compared")
        yield Bullets(_first(difference.not_compared), "warning")


def _run(recording: Recording) -> str:
    versions = {process.torch_version for process in recording.processes}
    known = [f"torch {version}" for version in sorted(filter(None, versions))]
    program = recording.run.program if recording.run is not None else None
    return ", ".join(filter(None, [str(recording.path), program, *known]))


def _findings(
    title: str, findings: Sequence[Finding], effects: dict[str, list[GraphChange]]
) -> Iterator[Block]:
    """What is there on one side alone, the worst first, each with what it does to the graphs."""
    if not findings:
        return
    yield Heading(title)
    for finding in findings[:_SHOWN]:
        yield Heading(finding.title, 3)
        said = [finding.source, "" if finding.cause in finding.title else finding.cause]
        if finding.via is not None:
            said.append(f"called from {place(finding.via.place)}: {finding.via.text}")
        if any(said):
            yield Paragraph("\n".join(filter(None, said)))
        of_graphs = effects.get(finding.identity, [])
        if of_graphs:
            yield Bullets(_first([sentence(change) for change in of_graphs]))
        if title == "Came" and finding.remedies:
            yield Paragraph(f"→ {finding.remedies[0].text}", "advice")
    yield from _rest(len(findings), "finding")


def _met_otherwise(
    changes: Sequence[FindingChange], effects: dict[str, list[GraphChange]]
) -> Iterator[Block]:
    """What both runs have, with both lines where these are not the same."""
    if not changes:
        return
    yield Heading("Met another number of times")
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
    yield from _rest(len(changes), "finding")


def _graphs(changes: Sequence[GraphChange]) -> Iterator[Block]:
    if not changes:
        return
    yield Heading("Graphs")
    for change in changes[:_SHOWN]:
        details = list(changes_in(change))
        yield Heading(sentence(change), 3)
        if details:
            yield Bullets(_first(details))
    yield from _rest(len(changes), "change")


def _counts(counts: Sequence[CountChange]) -> Iterator[Block]:
    if not counts:
        return
    yield Heading("Counts")
    rows = [_row(count) for count in counts[:_SHOWN]]
    yield table("|before>|after>|>", rows)
    yield from _rest(len(counts), "count")


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


def _rest(count: int, what: str) -> Iterator[Block]:
    if count > _SHOWN:
        yield Paragraph(f"… and {number(count - _SHOWN, f'more {what}')}; --format json has all", "dim")
