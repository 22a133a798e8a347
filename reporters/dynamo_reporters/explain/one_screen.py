"""`dynamo explain` on one screen: what to do first, what else is to be said, the counts.

At most 40 lines of 100 columns, whatever is in the recording. What is left out is counted, with the command
that shows it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain

from dynamo_core.analysis.verdict import command_words, ending, origin_sentence, verdict, versions
from dynamo_core.analysis.words import number, place
from dynamo_core.case import Case
from dynamo_core.findings import Action, Finding
from dynamo_core.shared.shown_paths import path_below, shown_path

from ..page.blocks import Block, Bullets, Code, Heading, Paragraph, Role, rest
from ..page.terminal import lines_needed
from ..parts.actions import (
    ACTIONS_TITLE,
    headline,
    what_else_it_changes,
    what_is_cured,
    what_it_saves,
    what_to_do,
)
from ..parts.backends import verified_lines
from .sections import SECTIONS, Section, further_commands
from .tables import count_rows

_LINES, _COLUMNS = 40, 100
_ROOM = _COLUMNS - 6  # of a line, behind indents and marks
_NOTES_SHOWN = 3, 5  # above the actions and below them
_ACTIONS_BY_WORTH = 12
_INDENT = "   "  # below the number of an action
# Sections that stand above the actions as a note, and say it in blocks.
_IN_BLOCKS = ("launches", "waiting ranks")
_NO_NOTES = ("verdict", "findings")
_NOT_SEEN = "not seen:"
_COMMAND = re.compile(r"`dynamo [a-z]+`")
_SHOWS_ALL = "dynamo explain --all"


def one_screen(case: Case, shows_all: str = _SHOWS_ALL) -> Iterator[Block]:
    """The blocks. The actions have the lines that the rest leaves; `shows_all` is the command for more."""
    heading = verdict(case.recording, case.summary)
    has_all = f"`{shows_all}` has"
    above = [*_title(heading), *_about(case, heading), *_since(case), *_notes_above(case, heading, has_all)]
    below = [*_also(case, heading, has_all), *_counts(case), *_more(case, has_all)]
    yield from above
    yield from _actions(case, _LINES - _height([*above, *below]), has_all)
    yield from below


def by_worth(case: Case) -> Iterator[Block]:
    """The blocks for a reader with a budget: what to do, the source that this is about, what was run."""
    heading = verdict(case.recording, case.summary)
    has_all = f"`{_SHOWS_ALL}` has"
    yield from (*_title(heading), *_since(case), *_notes_above(case, heading, has_all))
    if case.actions:
        yield Heading(ACTIONS_TITLE)
    for action in case.actions[:_ACTIONS_BY_WORTH]:
        yield from _action(action, case.cured_by(action), _LINES)
        if action is case.actions[0]:
            yield from _source(case)
    yield from rest(len(case.actions) - _ACTIONS_BY_WORTH, "action", f"; {has_all} all")
    if case.actions and case.recording.ended_well:
        # What is true of any short run is no answer where there is something to do.
        notes = [*_not_seen(_notes_below(case, heading)), *verified_lines(case.recording)]
        yield from _listed(notes, has_all, _NOTES_SHOWN[1], 2)
        return
    yield Heading("Run")
    yield from (*_about(case, heading), *_also(case, heading, has_all))


def _title(heading: str) -> Iterator[Block]:
    yield Heading(_cut(heading, 3), 1)


def _about(case: Case, heading: str) -> Iterator[Block]:
    """The program: how it ended, how it was captured, by which torch and Python."""
    recording = case.recording
    if recording.run is not None:
        # How it ended is seen in any case, and where it is recorded: the next command may need that.
        ended = _cut(f"{ending(recording)}.", 1)
        where = _cut(f"Recorded in {path_below(recording.address)}.", 2)
        yield Paragraph(_cut(command_words(recording.run), 3, f" {ended} {where}"))
    if recording.processes:
        origin, about = origin_sentence(recording), versions(recording)
        sentences = [*([] if origin in heading else [origin]), *([f"{about}."] if about else [])]
        if sentences:
            yield Paragraph(_cut(" ".join(sentences), 5))


def _since(case: Case) -> Iterator[Block]:
    if case.since is not None:
        yield Paragraph(_cut(case.since.sentence, 3))


# What each section has to say in a line: above the actions those that stand above the findings.


_FINDINGS = [section.name for section in SECTIONS].index("findings")


def _notes_above(case: Case, heading: str, has_all: str) -> Iterator[Block]:
    yield from _listed(_notes(case, SECTIONS[:_FINDINGS], heading), has_all, _NOTES_SHOWN[0], 2, "warning")


def _also(case: Case, heading: str, has_all: str) -> Iterator[Block]:
    """What was not seen, what is true of any short run, and the other notes that stand below the findings."""
    notes = _notes_below(case, heading)
    not_seen = _not_seen(notes)
    context = [_with_command(finding) for finding in case.context]
    others = [note for note in notes if note not in not_seen]
    # Of a run that was compared with eager, what came of that is asked first.
    first = 1 if verified_lines(case.recording) else 0
    items = [*not_seen, *others[:first], *context, *others[first:]]
    if items:
        yield Heading("Also")
        yield from _listed(items, has_all, _NOTES_SHOWN[1], 2)


def _notes_below(case: Case, heading: str) -> list[str]:
    return _notes(case, SECTIONS[_FINDINGS:], heading)


def _not_seen(notes: Sequence[str]) -> list[str]:
    return [note for note in notes if note.startswith(_NOT_SEEN)]


def _with_command(finding: Finding) -> str:
    """Its title, and the command that its advice names, or else the one that shows more.

    Whether compiling pays back is the answer to why a short run is slower than eager, and of a recompile
    that is right as it is the answer is why.
    """
    named = (found[0] for each in finding.remedies if (found := _COMMAND.search(each.text)))
    shown = (f"`{each.check}`" for each in finding.remedies)
    command = next(chain(named, shown), "")
    is_answer = finding.kind == "never pays back" or (finding.kind == "recompile" and not finding.remedies)
    text = f"{finding.title}; {finding.cause}" if is_answer else finding.title
    return _cut(text, 2, command and f" ({command})")


def _notes(case: Case, sections: Sequence[Section], heading: str) -> list[str]:
    """What the sections say in a line, but for what the heading says already."""
    notes = []
    for section in sections:
        if section.name in _NO_NOTES:
            continue
        lines = (line.strip() for line in section.lines(case))
        notes += [f"{section.prefix.strip()} {line}".strip() for line in lines if line not in heading]
        if section.name in _IN_BLOCKS:
            notes += [block.text for block in section.blocks(case) if isinstance(block, Paragraph)]
    return notes


def _listed(
    items: Sequence[str], has_all: str, shown: int, lines: int, role: Role = "plain"
) -> Iterator[Block]:
    """The first of them, in so many lines each."""
    more_than_shown = len(items) - shown
    # A line that says how many more there are takes the place of one.
    first = items if more_than_shown <= 0 else items[: shown - 1]
    more = [f"… and {len(items) - len(first):,} more; {has_all} all"] if more_than_shown > 0 else []
    if items:
        yield Bullets([*(_cut(item, lines) for item in first), *more], role)


def _actions(case: Case, room: int, has_all: str) -> Iterator[Block]:
    """The first actions, as many as there is room for, at least one; whole where all of them fit so."""
    if not case.actions:
        return
    yield Heading(ACTIONS_TITLE)
    whole = [block for action in case.actions for block in _action(action, case.cured_by(action), room)]
    if _height(whole) <= room - 2:  # the heading
        yield from whole
        return
    room -= 2 + 1  # and the line that says how many more there are
    shown = 0
    for action in case.actions:
        # All of the first advice, in the lines that there are.
        item = list(_action(action, case.cured_by(action), 2, 2 if shown else max(room - 3, 2)))
        room -= _height(item)
        if room < 0 and shown:
            break
        yield from item
        shown += 1
    yield from rest(len(case.actions) - shown, "action", f"; {has_all} all")


def _source(case: Case) -> Iterator[Block]:
    """The lines around the place of the first action, for a reader who would open the file next."""
    if case.excerpt is None:
        return
    for at, _, text in case.excerpt.callers:
        line = f", `{text.strip()}`" if text else ""
        yield Paragraph(f"{_INDENT}called at {shown_path(at.file)}:{at.line}{line}")
    first, marked = case.excerpt.first_line, case.excerpt.place.line
    yield Code(case.excerpt.text, "python", first, frozenset({marked}))


def _action(
    action: Action, cured: Sequence[Finding], lines: int, of_advice: int | None = None
) -> Iterator[Block]:
    """What to do, in `of_advice` lines where there is little room; what it cures and what else would do."""
    advice = headline(action)
    yield Paragraph(_cut(f"{action.number}. {advice}", of_advice or lines), "strong")
    saves = what_it_saves(action)
    line = "" if of_advice is not None or len(cured) != 1 else _line_of(cured[0], advice)
    cures = _cut(what_is_cured(action, cured) + line, lines, f"; {saves}" if saves else "")
    yield Paragraph(_INDENT + cures)
    if besides := what_else_it_changes(action):
        yield Paragraph(_INDENT + _cut(besides, max(lines - 1, 1)), "dim")
    if action.alternatives:
        first, *others = action.alternatives
        more = f" (and {number(len(others), 'other way', 'other ways')})" if others else ""
        yield Paragraph(_INDENT + _cut(f"or {what_to_do(first.remedy)}", max(lines - 1, 1), more), "dim")


def _line_of(finding: Finding, advice: str) -> str:
    """The line that the finding is about: where it is, if the title names another one, and its text."""
    at = ""
    if finding.place is not None and (where := place(finding.place)) not in finding.title:
        file, _, number_of_line = where.rpartition(":")
        at = f"line {number_of_line}" if f"{file}:" in finding.title else where
    source = f"`{finding.source}`" if finding.source and finding.source not in advice else ""
    line = ", ".join(filter(None, (at, source)))
    return f", at {line}" if line else ""


def _counts(case: Case) -> Iterator[Block]:
    yield Heading("Counts")
    rows = ((name, "not recorded" if value is None else value) for name, value in count_rows(case))
    yield Paragraph(_cut(", ".join(f"{name} {value}" for name, value in rows), 3))


def _more(case: Case, has_all: str) -> Iterator[Block]:
    """The commands that have more to say; what `--all` shows besides."""
    in_full = [f"{number(len(case.findings), 'finding')} in full"] if case.findings else []
    if case.summary.graphs:
        in_full += ["where compile time went", "the graphs"]
    lines = [f"{has_all} {', '.join(in_full)}"] if in_full else []
    if case.recording.can_run_again and any(
        remedy.change for finding in case.findings for remedy in finding.remedies
    ):
        lines.append("`dynamo fix` runs the program with such changes, and keeps those that help")
    if commands := further_commands(case):
        lines.append(_cut(commands, 3))
    if lines:
        yield Heading("More")
        yield from (Paragraph(line, "dim") for line in lines)


def _cut(text: str, lines: int, after: str = "") -> str:
    """The text, cut so that it fits into so many lines with what stands after it."""
    whole = " ".join(text.split())
    if lines_needed(whole + after, _ROOM) <= lines:
        return whole + after

    def cut_to(length: int) -> str:
        return f"{whole[: length - 1].rstrip()}…{after}"

    lengths = range(1, min(_ROOM * lines - len(after), len(whole)))
    fitting = bisect_right(lengths, lines, key=lambda length: lines_needed(cut_to(length), _ROOM))
    return cut_to(lengths[max(fitting - 1, 0)] if lengths else 1)


def _height(blocks: Sequence[Block]) -> int:
    """The lines that blocks take; before each heading stands an empty one."""
    height = 0
    for block in blocks:
        texts = block.items if isinstance(block, Bullets) else [getattr(block, "text", "")]
        height += sum(lines_needed(text, _ROOM) for text in texts) + isinstance(block, Heading)
    return height
