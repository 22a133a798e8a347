"""The few lines that `dynamo run` leaves on stderr when the program has ended."""

import shlex
from dataclasses import replace

from dynamo_core.analysis.ranks import Ranks
from dynamo_core.analysis.shown_paths import path_below
from dynamo_core.analysis.verdict import ending, in_progress_lines, stopped_lines, verdict
from dynamo_core.case import Case
from dynamo_core.model import Process, Recording
from dynamo_core.shared.settings import SEMANTICS_EAGER

from ..parts.after_freeze import freeze_sentence, frozen_lines
from ..parts.backends import taken_line, verified_lines
from ..parts.sections import finding_lines
from .sections import deferred_lines, override_lines, semantics_line

_FINDINGS_SHOWN = 5
_LINES_SHOWN = 5


def render_end_of_run(case: Case, is_newest: bool) -> list[str]:
    """Plain lines: the counts, the breaks, how it ended, what could not be seen, and what to type next.

    `is_newest` says that a report without a target will be on this recording.
    """
    recording = case.recording
    target = "" if is_newest else " " + shlex.quote(path_below(str(recording.path)))
    lines = [verdict(recording, case.summary)]
    ranks = case.ranks if case.has_ranks else None
    unfinished = in_progress_lines(recording) + ([] if ranks else stopped_lines(recording))
    lines += [f"  not finished: {line}" for line in _some(unfinished, target)]
    lines += [f"  {sentence}" for sentence in ranks.waiting] if ranks else []
    lines += [f"  {line}" for line in finding_lines(case.findings, _FINDINGS_SHOWN)]
    lines += [f"  limit: {line}" for line in _some(deferred_lines(recording), target)]
    lines += _some(verified_lines(recording), target)
    lines += [f"  override: {line}" for line in _some(override_lines(recording), target)]
    frozen = freeze_sentence(recording)
    if frozen is not None:
        lines += [
            frozen,
            *(f"  not compiled: {line}" for line in _some(list(frozen_lines(recording)), target)),
        ]
    differs = semantics_line(recording)
    lines += [f"  {differs}"] if differs else []
    taken = taken_line(recording)
    lines += [f"  {taken}"] if taken else []
    lines += [f"  not seen: {problem}" for problem in recording.problems]
    if recording.run is not None:
        lines.append(f"The program {ending(recording.run)}.")
        if recording.run.exit_code != 0 and _failed_in_what_was_captured(recording):
            lines.append("It was compiled by dynamo; `dynamo run --capture none` runs it as it is.")
    if recording.processes:
        lines.append(f"next: dynamo {_next(recording, ranks)}{target}")
    return lines


def _next(recording: Recording, ranks: Ranks | None) -> str:
    """The report that answers what the lines above it leave open."""
    if ranks is not None and _has_more_to_say(ranks):
        return "ranks"
    return "recompiles" if any(process.not_compiled for process in recording.processes) else "explain"


def _has_more_to_say(ranks: Ranks) -> bool:
    """Whether they wait or differ; which rank found something in a cache only says which came first."""
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
            or (_raised_in_a_graph(process) and not is_own_error)
            or any(in_progress_lines(replace(recording, processes=[process])))
        )
        for process in recording.processes
    )


def _raised_in_a_graph(process: Process) -> bool:
    return any(times.raised for graph in process.graphs for times in (graph.times, graph.backward) if times)


def _some(lines: list[str], target: str) -> list[str]:
    rest = len(lines) - _LINES_SHOWN
    return lines[:_LINES_SHOWN] + (
        [f"… and {rest} more; `dynamo explain{target}` has all"] if rest > 0 else []
    )
