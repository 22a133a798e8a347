"""`dynamo explain`, and the few lines that `dynamo run` leaves on stderr when the program has ended."""

import shlex
from dataclasses import replace

from dynamo_core.analysis.ranks import Ranks
from dynamo_core.analysis.verdict import ending, in_progress_lines
from dynamo_core.case import Case
from dynamo_core.findings import CONTENTS as FINDINGS
from dynamo_core.model import Recording
from dynamo_core.recording.training import AOT_PAIRS_FROM_OUR_TEXT
from dynamo_core.shared.settings import SEMANTICS_EAGER
from dynamo_core.shared.shown_paths import path_below

from ..next_commands import has_bug_of_compiler
from ..report import Report
from .document import Explained
from .one_screen import by_worth, one_screen
from .sections import SECTIONS, Section, blocks_of, fields_of


def report(*, show_all: bool = False) -> Report[Case]:
    """The report of `dynamo explain`, on one screen; with `show_all`, with everything in full."""
    page = blocks_of if show_all else one_screen
    contents = frozenset({AOT_PAIRS_FROM_OUR_TEXT}) | FINDINGS
    in_short = None if show_all else by_worth
    return Report("explain", page, lambda case: Explained(**fields_of(case)), contents, by_worth=in_short)


def render_end_of_run(case: Case, is_newest: bool) -> list[str]:
    """Plain lines: the sections that have some, how the program ended, and what to type next.

    `is_newest` says that a report without a target will be on this recording.
    """
    recording = case.recording
    target = "" if is_newest else " " + shlex.quote(path_below(str(recording.path)))
    lines = [line for section in SECTIONS for line in _lines(section, case, target)]
    if recording.run is not None:
        lines.append(f"The program {ending(recording)}.")
        if recording.run.exit_code != 0 and _failed_in_what_was_captured(recording):
            lines.append("It was compiled by dynamo; `dynamo run --capture none` runs it as it is.")
    if has_bug_of_compiler(case):
        lines.append(f"`dynamo repro{target}` makes a small file of it that fails alone.")
    if recording.processes:
        lines.append(f"next: dynamo {_next(case)}{target}")
    return lines


def _lines(section: Section, case: Case, target: str) -> list[str]:
    lines = list(section.lines(case))
    if section.shown is not None and len(lines) > section.shown:
        rest = f"… and {len(lines) - section.shown} more; `dynamo explain{target}` has all"
        lines = [*lines[: section.shown], rest]
    return [f"{section.prefix}{line}" for line in lines]


def _next(case: Case) -> str:
    """The report that answers what the lines above it leave open."""
    if case.has_ranks and _has_more_to_say(case.ranks):
        return "ranks"
    return (
        "recompiles" if any(process.interventions.not_compiled for process in case.processes) else "explain"
    )


def _has_more_to_say(ranks: Ranks) -> bool:
    """Whether they wait or differ; which rank found something in a cache only says which was first."""
    return bool(ranks.waiting) or any(difference.subject != "caches" for difference in ranks.differences)


def _failed_in_what_was_captured(recording: Recording) -> bool:
    """Whether capture has to do with how the program ended, as far as it was seen.

    Where eager's semantics are kept, an error in a graph is the program's own: eager raised it as well.
    """
    is_own_error = recording.settings.semantics == SEMANTICS_EAGER
    return any(
        process.capture_began
        and (
            any(frame.outcome == "raised" for frame in process.frames)
            or (process.raised_in_a_graph and not is_own_error)
            or any(in_progress_lines(replace(recording, processes=[process])))
        )
        for process in recording.processes
    )
