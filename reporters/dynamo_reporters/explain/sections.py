"""The sections of the picture of a recording, in order: one list for every surface that shows it.

`dynamo explain --all`, the JSON document, the lines at the end of a run and the page's first screen are made
of it; `one_screen.py` has what `dynamo explain` takes of it.
"""

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

from dynamo_core.analysis.break_costs import title_of
from dynamo_core.analysis.ranks.members import newest_launch
from dynamo_core.analysis.summary import disagreements
from dynamo_core.analysis.time.compiles import Phase, phases_of
from dynamo_core.analysis.verdict import (
    backend_without_effect,
    command_words,
    ending,
    in_progress_lines,
    origin_sentence,
    stopped_lines,
    verdict,
    versions,
)
from dynamo_core.case import Case
from dynamo_core.findings.breaks import is_expected
from dynamo_core.remedies.expected import expected_break
from dynamo_core.remedies.rules import place_of
from dynamo_core.shared.bisection import BISECTED
from dynamo_core.shared.quick_dataclass import dataclass
from dynamo_core.shared.shown_paths import path_below

from ..page.blocks import Block, Bullets, Heading, Paragraph, rest
from ..parts.actions import ACTIONS_TITLE, action_blocks, action_lines
from ..parts.after_freeze import after_freeze, freeze_of, freeze_sentence, frozen_lines
from ..parts.backends import backends_section, taken_line, verified_blocks, verified_lines, verified_of
from ..parts.sections import findings_section, other_ranks_blocks
from ..parts.training import training_section
from .document import action_in_document, explained
from .interventions import (
    deferred_lines,
    limit_lines,
    not_tried_lines,
    override_lines,
    overrides_of,
    semantics_line,
    semantics_of,
    semantics_section,
)
from .tables import compile_time_blocks, counts_blocks, graphs_blocks, ranks_blocks

_ROWS_SHOWN = 10
_PROBLEMS_SHOWN = 100
_MOST_SHOWN = 200  # findings, with all that is known of each
_ACTIONS_SHOWN = 5  # at the end of a run


def _nothing(case: Case) -> tuple[()]:
    return ()


@dataclass(frozen=True)
class Section:
    """A section in its forms; a surface on which it has nothing to say leaves it out.

    `blocks` are its part of the page of `dynamo explain --all`, `fields` those of the JSON document. `lines`
    are printed at the end of a run, each behind `prefix`, and `shown` of them at most; the page on one screen
    takes some of them. `html/first_screen.py` has the elements of sections by their names; of a list it shows
    the `items` below the `title`.
    """

    name: str
    blocks: Callable[[Case], Iterable[Block]] = _nothing
    lines: Callable[[Case], Iterable[str]] = _nothing
    prefix: str = "  "
    shown: int | None = None
    fields: Mapping[str, Callable[[Case], Any]] = field(default_factory=dict)
    title: str = ""
    items: Callable[[Case], list[str]] | None = None


def _listed(
    name: str,
    title: str,
    items: Callable[[Case], list[str]],
    prefix: str,
    lines: Callable[[Case], Iterable[str]] | None = None,
    **fields: Callable[[Case], Any],
) -> Section:
    """A section that is a list, with a line for each item at the end of a run, or with other `lines`."""

    def blocks(case: Case) -> Iterator[Block]:
        found = items(case)
        if found:
            yield Heading(title)
            yield Bullets(found[:_ROWS_SHOWN])
            yield from rest(len(found) - _ROWS_SHOWN, "such line", "; --format json has all")

    return Section(name, blocks, lines or items, f"  {prefix}: ", 5, fields, title, items)


def _verdict(case: Case) -> str:
    return verdict(case.recording, case.summary)


def _about(case: Case) -> Iterator[Block]:
    """The command, how it ended, how it was captured, and by which torch and Python, on what."""
    recording = case.recording
    if recording.run is not None:
        where = path_below(recording.address)
        ended = ending(recording)
        yield Paragraph(f"{command_words(recording.run)} {ended}. Recorded in {where}.")
    if recording.processes:
        text, about = origin_sentence(recording), versions(recording)
        yield Paragraph(f"{text} {about}." if about else text)


def since_blocks(case: Case) -> Iterator[Block]:
    """What became of the findings of the run before."""
    if case.since is not None:
        yield Paragraph(case.since.sentence)


def _several_launches(case: Case) -> Iterator[Block]:
    others = newest_launch(case.recording).left_out
    if others:
        yield Paragraph(
            f"The counts below are of several launches: of the last, and of {'; '.join(others)}. `dynamo "
            "ranks` compares the last; --restart N and --rank N pick out a part."
        )


def _expected_breaks(case: Case) -> list[str]:
    """The graph breaks that torch makes on purpose, where no frame runs eager because of them."""
    found = [cost.distinct.first for cost in case.figures.breaks if is_expected(cost.distinct)]
    return [f"{title_of(each, place_of(each))}: {expected_break(each)}; nothing to do" for each in found]


def _unfinished(case: Case) -> list[str]:
    return in_progress_lines(case.recording) + stopped_lines(case.recording)


def _unfinished_at_the_end(case: Case) -> list[str]:
    """Where Python stopped is said of each rank by the section on ranks."""
    return in_progress_lines(case.recording) if case.has_ranks else _unfinished(case)


def _overrides(case: Case) -> Iterator[Block]:
    lines = override_lines(case.recording)
    if lines:
        yield Heading("Overrides")
        yield Bullets(lines)


def bisection_lines(case: Case) -> list[str]:
    """What is bisected in any process."""
    found = (process.runtime.state.bisecting for process in case.processes)
    return [f"{each}: {BISECTED}" for each in dict.fromkeys(found) if each is not None]


def _compile_phases(case: Case) -> list[Phase] | None:
    compiles = [compile_ for process in case.processes for compile_ in process.compiles]
    return phases_of(compiles) if compiles else None


def problems(case: Case) -> list[str]:
    """What could not be recorded or read, and where counts of ours are not those of torch."""
    return case.problems + disagreements(case.processes)


def notes_and_problems(case: Case) -> list[str]:
    """The notes on the start of the program, and all problems."""
    run = case.recording.run
    return [*((run.notes if run else None) or ()), *problems(case)]


def _problems(case: Case) -> Iterator[Block]:
    found = notes_and_problems(case)
    if found:
        yield Heading("What could not be seen")
        yield Bullets(found[:_PROBLEMS_SHOWN], "warning")
        yield from rest(len(found) - _PROBLEMS_SHOWN, "problem", "; --format json has all")


def further_commands(case: Case) -> str:
    """The commands that have more to say, with the recording; "" where there are none."""
    summary = case.summary
    commands = [
        ("ranks", case.has_ranks),
        ("breaks", bool(summary.graph_breaks or summary.frames_fell_back)),
        ("recompiles", bool(summary.recompiles)),
        ("profile", bool(summary.graphs)),
        ("graphs", bool(summary.graphs)),
        ("guards", bool(summary.guards)),
        ("bytecode --diff", bool(summary.frames)),
        ("ops", bool(summary.graphs)),
    ]
    useful = " | ".join(command for command, has_more in commands if has_more)
    return f"dynamo {useful}  {shlex.quote(path_below(case.recording.address))}" if useful else ""


def _more(case: Case) -> Iterator[Block]:
    commands = further_commands(case)
    if commands:
        yield Heading("More")
        yield Paragraph(commands, "dim")


def _actions_and_findings(case: Case) -> Iterator[Block]:
    if case.actions:
        yield Heading(ACTIONS_TITLE)
        for action in case.actions[:_MOST_SHOWN]:
            yield from action_blocks(action, case.cured_by(action))
        yield from rest(len(case.actions) - _MOST_SHOWN, "action", "; --format json has all")
    can_run_again = case.recording.can_run_again
    yield from findings_section(case.findings, can_run_again=can_run_again, shown=_MOST_SHOWN)


def _what_to_do(case: Case) -> list[str]:
    """The first actions, and what is true of any short run."""
    return [*action_lines(case, _ACTIONS_SHOWN), *(f"also: {finding.title}" for finding in case.context)]


def _one(line: str | None) -> list[str]:
    return [] if line is None else [line]


SECTIONS = (
    Section(
        "verdict",
        lambda case: [Heading(_verdict(case), 1)],
        lambda case: [_verdict(case)],
        prefix="",
        fields={"verdict": _verdict},
    ),
    Section(
        "run",
        _about,
        fields={
            "run": lambda case: None if case.recording.run is None else case.recording.run.as_json(),
            "python_processes": lambda case: case.recording.python_processes,
        },
    ),
    Section("since", since_blocks, fields={"since": lambda case: case.since}),
    _listed(
        "bisection",
        "Torch's compiler bisector is active",
        bisection_lines,
        "bisected",
        bisections=bisection_lines,
    ),
    Section("partial"),
    Section("launches", _several_launches),
    _listed(
        "unfinished",
        "Not finished",
        _unfinished,
        "not finished",
        _unfinished_at_the_end,
        in_progress=lambda case: in_progress_lines(case.recording),
        stopped_at=lambda case: stopped_lines(case.recording),
    ),
    Section("counts in short"),
    Section("wall time"),
    Section(
        "waiting ranks",
        lambda case: other_ranks_blocks(case.recording),
        lambda case: case.ranks.waiting if case.has_ranks else (),
    ),
    Section(
        "findings",
        _actions_and_findings,
        _what_to_do,
        fields={
            "actions": lambda case: [action_in_document(each, case) for each in case.actions],
            "excerpt": lambda case: case.excerpt,
            "context": lambda case: [finding.identity for finding in case.context],
            "findings": lambda case: case.findings,
        },
    ),
    _listed(
        "expected breaks",
        "Graph breaks that torch makes on purpose",
        _expected_breaks,
        "expected",
        expected_breaks=_expected_breaks,
    ),
    Section("ranks in short"),
    Section("timeline"),
    _listed(
        "limits",
        "Skipped by a capture limit",
        lambda case: deferred_lines(case.recording),
        "limit",
        limits=lambda case: limit_lines(case.recording),
    ),
    _listed(
        "not tried",
        "Not tried",
        lambda case: not_tried_lines(case.recording),
        "not tried",
        not_tried=lambda case: not_tried_lines(case.recording),
    ),
    Section("backend", lines=lambda case: backend_without_effect(case.recording), prefix=""),
    Section(
        "freeze",
        lambda case: after_freeze(case.recording),
        lambda case: _one(freeze_sentence(case.recording)),
        prefix="",
        fields={"freeze": lambda case: freeze_of(case.recording)},
    ),
    Section(
        "not compiled",
        lines=lambda case: frozen_lines(case.recording),
        prefix="  not compiled: ",
        shown=5,
    ),
    Section(
        "overrides",
        _overrides,
        lambda case: override_lines(case.recording),
        prefix="  override: ",
        shown=5,
        fields={"overrides": lambda case: overrides_of(case.recording)},
    ),
    Section(
        "verified",
        lambda case: verified_blocks(case.recording),
        lambda case: verified_lines(case.recording),
        prefix="",
        shown=5,
        fields={"verified": lambda case: verified_of(case.recording)},
    ),
    Section(
        "semantics",
        lambda case: semantics_section(case.recording),
        lambda case: _one(semantics_line(case.recording)),
        fields={"semantics": lambda case: semantics_of(case.recording)},
    ),
    Section("counts", counts_blocks, fields={"summary": lambda case: case.summary}),
    Section(
        "backends",
        lambda case: backends_section(case.recording),
        lambda case: _one(taken_line(case.recording)),
    ),
    Section("ranks", ranks_blocks),
    Section("compile time", compile_time_blocks, fields={"compile_phases": _compile_phases}),
    Section("graphs", graphs_blocks, fields={"processes": lambda case: list(map(explained, case.processes))}),
    Section("training", lambda case: training_section(case.recording)),
    Section(
        "problems",
        _problems,
        problems,
        prefix="  not seen: ",
        fields={"problems": problems},
        title="What could not be seen",
        items=notes_and_problems,
    ),
    Section("more", _more),
)
# Where no process has imported torch, there is nothing that these could say.
_OF_PROCESSES = {
    *("launches", "unfinished", "waiting ranks", "findings", "limits", "not tried", "freeze", "overrides"),
    *("verified", "semantics", "counts", "backends"),
}


def blocks_of(case: Case) -> Iterator[Block]:
    """The page of `dynamo explain --all`."""
    for section in SECTIONS:
        if case.processes or section.name not in _OF_PROCESSES:
            yield from section.blocks(case)


def fields_of(case: Case) -> dict[str, Any]:
    """The fields of its JSON document."""
    return {name: make(case) for section in SECTIONS for name, make in section.fields.items()}
