"""The guards of a cache entry: under which conditions compiled code may be used again."""

from collections import Counter
from collections.abc import Iterable, Sequence

from dynamo_core.analysis.guard_text import (
    check_words,
    closure_variable,
    guard_words,
    is_marking,
    markings_words,
)
from dynamo_core.analysis.words import compile_label, frame_name, number, place, process_title
from dynamo_core.case import Case
from dynamo_core.model import Guard, GuardCheck, GuardSet, Process, Recording
from dynamo_core.shared import names
from dynamo_core.shared.failed_guard import without_stack_names

from ..page.blocks import Block, Bullets, Column, Heading, Paragraph, Table, table
from ..report import Detail, Report
from .document import guards_of
from .groups import (
    Difference,
    Entry,
    SourceGuards,
    by_frame,
    by_kind,
    differences,
    entries_lost,
    entries_of,
    remarks,
    unnumbered,
    without_guards,
)

_FEW = 12  # sources; so many are always listed
_FEW_DIFFERENCES = 10
_COLUMNS = (Column("source", is_above=True), Column("guard"), Column("what is checked"), Column("because of"))
_DIFFERENCE_COLUMNS = (Column("source", is_above=True), Column("cache entry"), Column("demands"))
_NOT_COMPARED = Paragraph("how they differ: not recorded", "dim")
_STATE = "(torch's state)"
_KINDS = {
    "value": "inputs and values",
    "module": "nn.Modules, parameters and buffers",
    "global": "modules, functions and classes (globals)",
    "state": "torch's state",
}


def report(show_all: bool = False) -> Report[Case]:
    """The report of `dynamo guards`; `show_all` lists what is otherwise counted."""
    return Report(
        "guards",
        lambda case: _page(case.recording, show_all),
        lambda case: guards_of(case.recording),
        frozenset({names.GUARDS, "dynamo_cpp_guards_str"}),
    )


def guards_blocks(guard_set: GuardSet, detail: Detail) -> list[Block]:
    """The guards of one cache entry, by source; with MORE, every check in words and the user's line too."""
    items: Sequence[Guard] | Sequence[GuardCheck] = guard_set.guards or guard_set.checks or ()
    what = "guard" if guard_set.guards is not None else "check"
    title = f"guards {compile_label(guard_set.compile_id)} {number(len(items), what)}"
    if detail is Detail.LESS:
        return [Heading(f"{title}: {_by_type(items)}" if items else title, 3)]
    if detail is Detail.NORMAL:
        return [
            Heading(title, 3),
            table("guard|source", [[item.type, without_stack_names(item.source)] for item in items]),
        ]
    return [Heading(title, 3), _source_table(by_kind(guard_set)), *_remark_blocks([guard_set])]


def _page(recording: Recording, show_all: bool) -> list[Block]:
    blocks: list[Block] = []
    for process in recording.processes:
        entries = entries_of(process)
        missing = without_guards(process, entries)
        blocks.append(Heading(f"{_count(entries, process)}{process_title(process, recording)}", 1))
        if "guards" in process.health.failed_probes:
            blocks.append(
                Paragraph(f"guards: not recorded ({process.health.failed_probes['guards']})", "warning")
            )
        if missing:
            blocks.append(Bullets(missing, "dim"))
        elif not entries:
            blocks.append(Paragraph("guards: not recorded; nothing was compiled", "dim"))
        for frame in by_frame(entries):
            blocks += _frame_blocks(frame, show_all)
    return blocks


def _count(entries: Sequence[Entry], process: Process) -> str:
    """How many cache entries there are; those that torch made, but whose guards nobody recorded, are no 0."""
    lost = entries_lost(process, entries)
    if not entries and (lost or "guards" in process.health.failed_probes):
        return "cache entries: not recorded"
    count = number(len(entries), "cache entry", "cache entries")
    return f"{count} of {len(entries) + lost:,}" if lost else count


def _frame_blocks(frame: Sequence[Entry], show_all: bool) -> list[Block]:
    compile_ = next((entry.compile for entry in frame if entry.compile is not None), None)
    name = (
        f"{frame_name(compile_.name, compile_.method)} ({place(compile_.place)})"
        if compile_
        else "unknown frame"
    )
    blocks: list[Block] = [Heading(f"{name}: {number(len(frame), 'cache entry', 'cache entries')}", 2)]
    guard_sets = [entry.guard_set for entry in frame]
    can_compare = len(frame) > 1 and all(guard_set.checks is not None for guard_set in guard_sets)
    found = differences(guard_sets) if can_compare else []
    if len(frame) > 1:
        blocks += _difference_blocks(found, show_all) if can_compare else [_NOT_COMPARED]
    blocks += _remark_blocks(guard_sets)
    for entry in frame:
        blocks.append(Heading(_title(entry), 3))
        if entry is frame[0] or show_all or not found:
            blocks += _entry_blocks(entry.guard_set, show_all)
        else:
            blocks += _further_entry_blocks(entry.guard_set, frame[0].guard_set, found)
    return blocks


def _further_entry_blocks(guard_set: GuardSet, first: GuardSet, found: Iterable[Difference]) -> list[Block]:
    """An entry of a frame by what it does not share with the others."""
    groups = by_kind(guard_set)
    sources = {difference.source for difference in found}
    own = [group for group in groups if group.kind == "value" and unnumbered(group.source) in sources]
    rest = f"What does not differ above is as in {compile_label(first.compile_id)}; --all lists it."
    return [Paragraph(_by_kind(groups)), *([_source_table(own)] if own else []), Paragraph(rest, "dim")]


def _title(entry: Entry) -> str:
    guard_set = entry.guard_set
    checks = "checks: not recorded" if guard_set.checks is None else number(len(guard_set.checks), "check")
    latency = guard_set.latency_us
    measured = (
        "latency: not recorded"
        if latency is None
        else f"{latency:.3g} µs per evaluation with a flushed cache (torch's figure, not what a call pays)"
    )
    recorded = guard_set.guards
    differing = (
        f"; {len(recorded)} were recorded"
        if recorded is not None and len(recorded) != entry.guard_count
        else ""
    )
    return (
        f"{compile_label(guard_set.compile_id)} {number(entry.guard_count, 'guard')} "
        f"(torch's guard_count{differing}), "
        f"{checks} in the tree, {measured}"
    )


def _difference_blocks(found: Sequence[Difference], show_all: bool) -> list[Block]:
    if not found:
        return [Paragraph("Nothing in torch's text of their checks differs.", "dim")]
    shown = found if show_all else found[:_FEW_DIFFERENCES]
    blocks: list[Block] = [
        Paragraph("How they differ", "strong"),
        Table(_DIFFERENCE_COLUMNS, [row for difference in shown for row in _rows(difference)]),
    ]
    if len(shown) < len(found):
        blocks.append(Paragraph(f"and {len(found) - len(shown)} more; --all lists them", "dim"))
    return blocks


def _remark_blocks(guard_sets: Sequence[GuardSet]) -> list[Block]:
    """torch's remarks, each once."""
    lines = []
    for note, sources in remarks(guard_sets).items():
        more = f" and {len(sources) - 1} more" if len(sources) > 1 else ""
        lines.append(f"{without_stack_names(sources[0]) or 'sizes'}{more}: {note}")
    return [Paragraph("Notes from torch", "strong"), Bullets(lines)] if lines else []


def _rows(difference: Difference) -> list[list[str]]:
    rows = [
        ["", " ".join(map(compile_label, ids)), ", ".join(demands) or "(no such check)"]
        for ids, demands in difference.entries
    ]
    rows[0][0] = without_stack_names(difference.source) or _STATE
    return rows


def _entry_blocks(guard_set: GuardSet, show_all: bool) -> list[Block]:
    groups = by_kind(guard_set)
    if not groups:
        return [Paragraph("no guards", "dim")]
    blocks: list[Block] = [Paragraph(_by_kind(groups))]
    few = len([group for group in groups if group.kind != "state"]) <= _FEW
    is_listed = set(_KINDS) if show_all else {"value", "module", "global"} if few else {"value"}
    listed = [group for group in groups if group.kind in is_listed]
    if listed:
        blocks.append(_source_table(listed))
    folded = [
        f"{what}: {_by_type(items)}"
        for kind, what in _KINDS.items()
        if kind not in is_listed and (items := _items(group for group in groups if group.kind == kind))
    ]
    if folded:
        blocks += [Paragraph("Not listed without --all:", "dim"), Bullets(folded, "dim")]
    return blocks


def _items(groups: Iterable[SourceGuards]) -> list[Guard | GuardCheck]:
    """What is counted: the guards that Dynamo asked for, or checks where those were not recorded."""
    groups = list(groups)
    guards = [guard for group in groups for guard in group.guards]
    return [*guards] if guards else [check for group in groups for check in group.checks]


def _by_kind(groups: Sequence[SourceGuards]) -> str:
    noun = "guard" if any(group.guards for group in groups) else "check"
    counts = {
        what: len(_items(group for group in groups if group.kind == kind)) for kind, what in _KINDS.items()
    }
    return "; ".join(f"{number(count, noun)} on {what}" for what, count in counts.items() if count)


def _by_type(items: Iterable[Guard | GuardCheck]) -> str:
    counts = Counter(item.type for item in items)
    return ", ".join(f"{count} {kind}" for kind, count in counts.most_common())


def _source_table(groups: Iterable[SourceGuards]) -> Block:
    rows = [
        [
            without_stack_names(group.source) or _STATE,
            "\n".join(group.types),
            without_stack_names("\n".join(_demands(group))),
            _cause(group),
        ]
        for group in groups
    ]
    if not any(row[-1] for row in rows):  # torch 2.6 and older do not say
        return Table(_COLUMNS[:-1], [row[:-1] for row in rows])
    return Table(_COLUMNS, rows)


def _demands(group: SourceGuards) -> list[str]:
    """What is checked at a source, in words, a line each; where nothing is, what its guards ask for."""
    marks = [check for check in group.checks if is_marking(check.code)]
    lines = []
    for check in group.checks:
        if check not in marks:
            variable = closure_variable(check.code)
            words = check_words(check.type, check.code, check.source or group.source)
            lines.append(f"{words} (closure variable {variable})" if variable else words)
        elif check is marks[0]:
            lines += markings_words(mark.code for mark in marks)
    if group.remark is not None:
        lines.append(group.remark)
    if not lines:
        lines = [guard_words(guard.type, guard.source, guard.code) for guard in group.guards]
    return list(dict.fromkeys(lines))


def _cause(group: SourceGuards) -> str:
    """The user's lines that a group of guards is due to."""
    checks = [check for check in group.checks if check.place is not None]
    of_user = [check for check in checks if check.user_code is not None]
    if not of_user and not group.source:
        return ""  # torch's own line, which asks for this in every frame
    lines = [f"{place(check.place)}\n{check.user_code or ''}".rstrip() for check in of_user or checks]
    if not lines:
        lines = [place(guard.place) for guard in group.guards if guard.place is not None]
    return "\n".join(dict.fromkeys(lines))
