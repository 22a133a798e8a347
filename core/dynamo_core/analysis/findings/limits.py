"""Findings: frames that would be compiled, but for a limit on what capturing a program may cost."""

from collections.abc import Iterator

from ..figures import Figures
from ..words import frame_name, place
from .draft import Draft, tests_of
from .finding import NOT_RECORDED, Cost, Evidence, Figure
from .remedy import remedy

# By the option: how a limit is lifted, and what it spares the program.
_LIFTED = {
    "--loop-limit": "`dynamo run --loop-limit 0` lifts the limit: all turns of the loop are then in one "
    "graph, which takes as much longer to trace and compile; measure it.",
    "--op-limit": "`dynamo run --op-limit 0` lifts the limit; so large a graph takes long to compile.",
    "--trace-limit": "`dynamo run --trace-limit 0` lifts the limit; tracing then takes as long as it needs.",
    "--compile-limit": "a larger `dynamo run --compile-limit` leaves the backend more time.",
}


def left_eager(figures: Figures) -> Iterator[Draft]:
    """One for each frame and limit: no failure of torch's, but ours, and the user's to lift."""
    for process in figures.recording.processes:
        for frame in process.frames:
            if frame.limit is None:
                continue
            outside = figures.outside_seconds(process)
            reason = frame.reason or frame.limit
            yield Draft(
                "left eager by a limit",
                key=(frame.limit,),
                title=f"{frame_name(frame.name, frame.method)} at {place(frame.place)} runs eager: {reason}",
                cause=reason,
                processes=(process,),
                place=frame.place,
                function=frame.name,
                cost=Cost(saves_at_most=NOT_RECORDED if outside is None else Figure(outside, "estimated")),
                outside_seconds=outside or 0.0,
                evidence=Evidence(records=(reason,), tests=tests_of(process, [frame])),
                remedies=remedy("left eager by a limit", _LIFTED.get(frame.limit)),
            )
