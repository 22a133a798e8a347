"""Where a program was that did not end by itself: by the stack that it left when a signal came."""

from ..model import Process, Recording
from .library import is_library
from .words import frame_name, place, process_title

_CALLERS_SHOWN = 2


def stopped_lines(recording: Recording) -> list[str]:
    """A line for each process of which that is known."""
    told = ((stopped_words(process), process_title(process, recording)) for process in recording.processes)
    return [f"Python{where} was {stopped}" for stopped, where in told if stopped is not None]


def stopped_words(process: Process) -> str | None:
    """`in barrier (torch/distributed/distributed_c10d.py:5), called at x.py:9 in g, from x.py:26 in f`.

    None if it is not known.
    """
    if process.end is not None or not process.stopped_at:
        return None
    innermost = process.stopped_at[-1]
    inside = f"in {frame_name(innermost.function)} ({place(innermost.place)})"
    own = [each for each in reversed(process.stopped_at) if not is_library(each.place)]
    if not own:
        return inside
    first, *callers = own
    text = f"at {place(first.place)} in {frame_name(first.function)}"
    if first is not innermost:
        text = f"{inside}, called {text}"
    outer = [each for each in callers if each.function != "<module>"][:_CALLERS_SHOWN]
    return text + "".join(f", from {place(each.place)} in {frame_name(each.function)}" for each in outer)
