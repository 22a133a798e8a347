"""What made Dynamo give a frame up, as a break at a line of the user's."""

from dataclasses import replace
from typing import NamedTuple

from ..model import Frame, GraphBreak, Process, StackFrame


class GivenUp(NamedTuple):
    """A frame that Dynamo gave up, and the break that it was given up for."""

    process: Process
    frame: Frame
    stopped: GraphBreak


def what_stopped(frame: Frame) -> GraphBreak:
    """The break that it was given up for; where none was recorded, its first line and the reason."""
    reason = frame.reason or "no reason recorded"
    where = frame.stopped or frame.broke
    if where is not None and where.stack:
        explanation = frame.explanation if where.explanation is None else where.explanation
        return replace(where, reason=reason, explanation=explanation)
    if frame.explanation is None:
        return GraphBreak(reason, (StackFrame(frame.place, frame.name, ""),), frame.compile_id)
    stack = frame.explanation.stack or (StackFrame(frame.explanation.place, frame.name, ""),)
    entered = [i for i, each in enumerate(stack) if each.function == frame.name]
    within = stack[entered[-1] :] if entered else stack
    return GraphBreak(reason, within, frame.compile_id, frame.explanation)
