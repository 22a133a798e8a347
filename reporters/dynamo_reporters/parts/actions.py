"""Actions in short: what to do, what that cures and where, and what it saves at most."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from dynamo_core.analysis.words import number, seconds
from dynamo_core.case import Case
from dynamo_core.findings import Action, Finding, Remedy
from dynamo_core.findings.kinds import spec_of
from dynamo_core.shared.shown_paths import shown_path

from ..page.blocks import Block, Heading, Paragraph
from .sections import tests_line

ACTIONS_TITLE = "Do first"
_SHOWN = 8  # actions on the page of a command
_RANGES_SHOWN = 8  # of lines
_LINE = 80  # characters of a remedy at the end of a run


def action_lines(case: Case, shown: int) -> list[str]:
    """Two lines for each of the first actions: what is in the way, and what to do; then how many more."""
    lines = []
    for action in case.actions[:shown]:
        lines.append(_subject(action, case))
        if action.remedy is not None:
            lines.append(f"   → {_in_a_line(what_to_do(action.remedy))}")
    return lines + _how_many_more(case, shown)


def _in_a_line(text: str) -> str:
    return text if len(text) <= _LINE else f"{text[: _LINE - 1].rstrip()}…"


def _subject(action: Action, case: Case) -> str:
    """`1. 20 graph breaks at model.py:19-23, 25`; of one finding its title, and in which tests it was met."""
    cured = case.cured_by(action)
    tests = tests_line(cured[0], 1) if len(cured) == 1 else ""
    return ", ".join(filter(None, (f"{action.number}. {what_is_cured(action, cured)}", tests)))


def _how_many_more(case: Case, shown: int) -> list[str]:
    rest = len(case.actions) - shown
    return [f"… and {number(rest, 'more action')}"] if rest > 0 else []


def actions_in_short(case: Case, command: str) -> Iterator[Block]:
    """On the page of a command: the first actions, and what is true of any short run.

    What to do is said where the command shows whether it worked.
    """
    if not case.findings:
        return
    yield Heading(ACTIONS_TITLE if case.actions else "Also")
    for action in case.actions[:_SHOWN]:
        yield Paragraph(_subject(action, case))
        yield from _advice(action.remedy, command)
    yield from map(Paragraph, _how_many_more(case, _SHOWN))
    for finding in case.context:
        yield Paragraph(f"{'also: ' if case.actions else ''}{finding.title}")
        yield from _advice(next(iter(finding.remedies), None), command)
    yield Paragraph("`dynamo explain` says what to do.", "dim")


def _advice(remedy: Remedy | None, command: str) -> Iterator[Block]:
    if remedy is not None and remedy.check == command:
        yield Paragraph(f"   → {remedy.text}", "advice")


def action_blocks(action: Action, cured: Sequence[Finding]) -> Iterator[Block]:
    """The action in full: what to do, what that cures, saves and may change, and what else would do."""
    yield Paragraph(f"{action.number}. {headline(action)}", "strong")
    yield Paragraph(f"   {'; '.join(filter(None, (what_is_cured(action, cured), what_it_saves(action))))}")
    if besides := what_else_it_changes(action):
        yield Paragraph(f"   {besides}", "dim")
    for alternative in action.alternatives:
        yield Paragraph(f"   or {what_to_do(alternative.remedy)}", "dim")


def headline(action: Action) -> str:
    """What to do, or that nothing is known to help."""
    return "no remedy is known" if action.remedy is None else what_to_do(action.remedy)


def what_to_do(remedy: Remedy) -> str:
    """The remedy as short as it can be said, and what came of it where it was tried."""
    return remedy.in_short + ("" if remedy.tried is None else f" (tried: {remedy.tried})")


def what_is_cured(action: Action, cured: Sequence[Finding]) -> str:
    """The finding's title, or how many there are of each kind, and where."""
    if len(cured) == 1:
        return cured[0].title
    where = places_of(cured)
    return f"{_counted(action.times)}{where and f' at {where}'}"


def _counted(times: Mapping[str, int]) -> str:
    """`4 recompiles, 1 graph break`."""
    counts = []
    for kind, count in times.items():
        words = spec_of(kind).diff_words
        counts.append(number(count, *words) if words else kind + (f" ({count} times)" if count > 1 else ""))
    return ", ".join(counts)


def what_it_saves(action: Action) -> str:
    """What all of it saves at most; "" where that is not known.

    The title of a limit that was hit says what compiling took; what ran eager afterwards is in this, too.
    """
    figure = action.saves_at_most
    more = ", with what ran eager" if "recompile limit" in action.times else ""
    return f"saves at most {seconds(figure.seconds)}{more}" if figure.seconds else ""


def what_else_it_changes(action: Action) -> str:
    """What the remedy may change in the program besides; "" where nothing is known."""
    may_change = "" if action.remedy is None else action.remedy.may_change
    return may_change and f"it may also change: {may_change}"


def places_of(findings: Iterable[Finding]) -> str:
    """`model.py:19-23, 25; loss.py:7`: the lines that these are on, without those beyond the first ranges."""
    lines: dict[str, set[int]] = {}
    for finding in findings:
        if finding.place is not None:
            lines.setdefault(finding.place.file, set()).add(finding.place.line)
    ranges = [(file, each) for file, of_file in lines.items() for each in _ranges(sorted(of_file))]
    by_file: dict[str, list[str]] = {}
    for file, (first, last) in ranges[:_RANGES_SHOWN]:
        by_file.setdefault(file, []).append(str(first) if first == last else f"{first}-{last}")
    rest = sum(last - first + 1 for _, (first, last) in ranges[_RANGES_SHOWN:])
    shown = "; ".join(f"{shown_path(file)}:{', '.join(each)}" for file, each in by_file.items())
    return f"{shown} and {number(rest, 'more line')}" if rest else shown


def _ranges(lines: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The first and last line of each run of lines that follow one another."""
    first = 0
    for at, line in enumerate(lines):
        if at + 1 == len(lines) or lines[at + 1] != line + 1:
            yield lines[first], line
            first = at + 1
