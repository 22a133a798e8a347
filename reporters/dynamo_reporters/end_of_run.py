"""The few lines that `dynamo run` leaves on stderr when the program has ended."""

import shlex
from pathlib import Path

from dynamo_core.model import GraphBreak, Recording
from dynamo_core.summary import break_identity, fell_back, summarize

from .text import frame_name, number, place
from .verdict import ending, verdict

_BREAKS_SHOWN = 5


def render_end_of_run(recording: Recording, is_default_place: bool) -> list[str]:
    """Plain lines: the counts, the breaks, how it ended, what could not be seen, and what to type next."""
    summary = summarize(recording)
    lines = [verdict(recording, summary)]
    breaks = distinct_breaks(recording)
    for graph_break, times in breaks[:_BREAKS_SHOWN]:
        met = f" (met {number(times, 'time')})" if times > 1 else ""
        lines.append(f"  break at {place(graph_break.place)}: {graph_break.kind}{met}")
    if len(breaks) > _BREAKS_SHOWN:
        lines.append(f"  … and {number(len(breaks) - _BREAKS_SHOWN, 'more distinct break')}")
    for process in recording.processes:
        for frame in filter(fell_back, process.frames):
            reason = (frame.reason or "no reason recorded").partition("\n")[0]
            lines.append(
                f"  eager: {frame_name(frame.name)} at {place(frame.place)} could not be compiled: {reason}"
            )
    lines += [f"  not seen: {problem}" for problem in recording.problems]
    if recording.run is not None:
        lines.append(f"The program {ending(recording.run)}.")
        if recording.run.get("exit_code") != 0 and any(p.capture_began for p in recording.processes):
            lines.append("It was compiled by dynamo; `dynamo run --capture none` runs it as it is.")
    if recording.processes:
        target = "" if is_default_place else " " + shlex.quote(_shortest(recording.path))
        lines.append(f"next: dynamo explain{target}")
    return lines


def distinct_breaks(recording: Recording) -> list[tuple[GraphBreak, int]]:
    """Each distinct break once, with how often it was compiled into; the most frequent first."""
    met: dict[tuple[object, str], list[GraphBreak]] = {}
    for process in recording.processes:
        for graph_break in process.breaks:
            met.setdefault(break_identity(graph_break), []).append(graph_break)
    return sorted(((found[0], len(found)) for found in met.values()), key=lambda pair: -pair[1])


def _shortest(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)
