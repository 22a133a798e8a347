"""The exports in a trace that torch wrote: whether each gave a program, and what it ran into."""

from collections.abc import Sequence
from dataclasses import replace

from ..analysis.library import is_library
from ..model import UNKNOWN_FILE, Recording, StackFrame, TracedExport
from ..shared.quick_dataclass import dataclass
from .obstacles import Obstacle, drafted_obstacle


@dataclass(frozen=True)
class ExportInTrace:
    """A call of torch.export. `program` is as torch prints it; null where the export did not end well.

    What a draft met is listed though it gave a program: it is what torch.export stops at.
    """

    stream: str
    began: str
    program: str | None
    obstacles: tuple[Obstacle, ...]


def exports_in_trace(recording: Recording) -> tuple[ExportInTrace, ...]:
    """All of them, in the order in which they began."""
    found = (
        ExportInTrace(process.stream.name, each.began, each.program, _obstacles(each))
        for process in recording.processes
        for each in process.traced_exports
    )
    return tuple(sorted(found, key=lambda each: each.began))


def _users(stack: Sequence[StackFrame]) -> tuple[StackFrame, ...]:
    """A stack down to the innermost line of the user's own: what follows is torch at work on the export."""
    own = max((place for place, each in enumerate(stack, start=1) if not is_library(each.place)), default=0)
    return tuple(stack[:own])


def _obstacles(traced: TracedExport) -> tuple[Obstacle, ...]:
    """Each line once, and each operator of which no line is known; which way of exporting met it is not."""
    found: dict[object, Obstacle] = {}
    for met in traced.obstacles:
        obstacle = replace(drafted_obstacle(replace(met, stack=_users(met.stack))), met_by=())
        if obstacle.place is not None and obstacle.place.file == UNKNOWN_FILE:
            obstacle = replace(obstacle, place=None)
        key = (obstacle.place, obstacle.cause) if obstacle.place is not None else obstacle.words
        found.pop(key, None)
        found[key] = obstacle
    return tuple(found.values())
