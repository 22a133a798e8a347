"""The few lines that `dynamo run` leaves on stderr when the program has ended."""

import shlex
from pathlib import Path

from dynamo_core.model import Recording
from dynamo_core.summary import fell_back, gave_up, summarize

from ..backends.taken import taken_line, untaken_lines
from ..breaks.effects import distinct_breaks
from ..recompiles.after_freeze import freeze_sentence, frozen_lines
from ..text import first_line, frame_name, number, place
from .overrides import override_lines
from .verdict import ending, verdict
from .verified import verified_lines

_BREAKS_SHOWN = 5
_LINES_SHOWN = 5


def render_end_of_run(recording: Recording, is_default_place: bool) -> list[str]:
    """Plain lines: the counts, the breaks, how it ended, what could not be seen, and what to type next."""
    summary = summarize(recording)
    lines = [verdict(recording, summary)]
    breaks = distinct_breaks(recording)
    for each in breaks[:_BREAKS_SHOWN]:
        met = f" (met {number(each.met, 'time')})" if each.met > 1 else ""
        lines.append(f"  break at {place(each.first.place)}: {each.first.kind}{met}")
    if len(breaks) > _BREAKS_SHOWN:
        lines.append(f"  … and {number(len(breaks) - _BREAKS_SHOWN, 'more distinct break')}")
    for process in recording.processes:
        for frame in process.frames:
            if gave_up(frame):
                what = "eager" if fell_back(frame) else "error"
                where = f"{frame_name(frame.name)} at {place(frame.place)}"
                lines.append(f"  {what}: {where} could not be compiled: {first_line(frame.reason)}")
    lines += _some(verified_lines(recording))
    lines += [f"  override: {line}" for line in _some(override_lines(recording))]
    frozen = freeze_sentence(recording)
    if frozen is not None:
        lines += [frozen, *(f"  not compiled: {line}" for line in _some(list(frozen_lines(recording))))]
    taken = taken_line(recording)
    lines += [f"  {taken}"] if taken else []
    lines += [f"  {line}" for line in untaken_lines(recording)]
    lines += [f"  not seen: {problem}" for problem in recording.problems]
    if recording.run is not None:
        lines.append(f"The program {ending(recording.run)}.")
        if recording.run.get("exit_code") != 0 and any(p.capture_began for p in recording.processes):
            lines.append("It was compiled by dynamo; `dynamo run --capture none` runs it as it is.")
    if recording.processes:
        target = "" if is_default_place else " " + shlex.quote(_shortest(recording.path))
        lines.append(f"next: dynamo explain{target}")
    return lines


def _some(lines: list[str]) -> list[str]:
    rest = len(lines) - _LINES_SHOWN
    return lines[:_LINES_SHOWN] + ([f"… and {rest} more; `dynamo explain` has all"] if rest > 0 else [])


def _shortest(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)
