"""Where a program was that did not end by itself: by the stack that it left when a signal came."""

from ..model import Process, Recording
from .library import is_library
from .words import frame_name, place, process_title


def stopped_lines(recording: Recording) -> list[str]:
    """A line for each process of which that is known."""
    told = ((stopped_words(process), process_title(process, recording)) for process in recording.processes)
    return [f"Python{where} was {stopped}" for stopped, where in told if stopped is not None]


def stopped_words(process: Process) -> str | None:
    """`in barrier (torch/distributed/distributed_c10d.py:52), called at x.py:31 in main`; None if unknown."""
    if process.end is not None or not process.stopped_at:
        return None
    innermost = process.stopped_at[-1]
    own = next((each for each in reversed(process.stopped_at) if not is_library(each.place)), None)
    if own is innermost:
        return f"at {place(own.place)} in {frame_name(own.function)}"
    inside = f"in {frame_name(innermost.function)} ({place(innermost.place)})"
    return inside if own is None else f"{inside}, called at {place(own.place)} in {frame_name(own.function)}"
