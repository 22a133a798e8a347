"""Frames that run eager so that capture does not cost more than it may."""

from dynamo_core.analysis.words import frame_name, number, place
from dynamo_core.model import Recording


def limit_lines(recording: Recording) -> list[str]:
    """A line for each frame that was given up at a limit, which is a finding as well, or has waited."""
    given_up = dict.fromkeys(
        f"{frame_name(frame.name, frame.method)} at {place(frame.place)} runs eager: {frame.reason}"
        for process in recording.processes
        for frame in process.frames
        if frame.limit is not None
    )
    return [*given_up, *put_off_lines(recording)]


def put_off_lines(recording: Recording) -> list[str]:
    """A line for each frame that has waited, with what to set."""
    return [
        f"{frame_name(frame.name)} at {place(frame.place)} ran eager {number(frame.times, 'time')}, as "
        f"compiling had taken more CPU time than the program itself{_budget(recording)}"
        for process in recording.processes
        for frame in process.put_off
    ]


def _budget(recording: Recording) -> str:
    budget = recording.settings.capture_budget
    return "" if budget is None else f" and {budget:g} s (--capture-budget {budget:g})"
