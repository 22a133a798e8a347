"""A process from its begin to its end, and the moments at which something happened to its compiling."""

from collections.abc import Iterable
from dataclasses import field

from dynamo_core.analysis.time.wall import EXIT, wall_time
from dynamo_core.analysis.words import compile_label, frame_name
from dynamo_core.model import Process, Recording
from dynamo_core.shared.quick_dataclass import dataclass

from .layout import Slice, Track


@dataclass(frozen=True)
class Mark:
    """Something that took no time, at nanoseconds since the epoch."""

    name: str
    at_ns: int
    details: dict[str, str | int] = field(default_factory=dict)


def life(process: Process, recording: Recording) -> Track:
    """The process as one slice to its very end, with the time in which Python left it.

    Empty where its begin is not known, and of a selected part.
    """
    wall = wall_time(process, recording) if process.whole is None else None
    if wall is None:
        return Track("process", ())
    details: dict[str, str | int] = {} if wall.saw_end else {"end": "not recorded: the last that is known"}
    if recording.run is not None and recording.run.program is not None:
        details["program"] = recording.run.program
    slices = [Slice("process", wall.begin_ns, wall.end_ns, "process", details=details)]
    leaving = wall.part(EXIT)
    if leaving is not None and leaving.seconds:
        slices.append(Slice(EXIT, wall.end_ns - round(leaving.seconds * 1e9), wall.end_ns, EXIT))
    return Track("process", tuple(slices))


def marks(process: Process) -> list[Mark]:
    """Graph breaks, recompiles refused after a freeze, and the freeze; what has no moment has no mark."""
    return sorted([*_breaks(process), *_refused(process), *_freeze(process)], key=lambda mark: mark.at_ns)


def _breaks(process: Process) -> Iterable[Mark]:
    for graph_break in process.breaks:
        if graph_break.at_ns is not None:
            details: dict[str, str | int] = {"compile": compile_label(graph_break.compile_id)}
            if graph_break.place is not None:
                details["place"] = str(graph_break.place)
            yield Mark(f"graph break: {graph_break.kind}", graph_break.at_ns, details)


def _refused(process: Process) -> Iterable[Mark]:
    for item in process.not_compiled:
        if item.at_ns is not None and item.name is not None:
            details: dict[str, str | int] = {"times": item.times}
            if item.place is not None:
                details["place"] = str(item.place)
            if item.reasons:
                details["reason"] = item.reasons[0]
            yield Mark(f"not compiled: {frame_name(item.name)}", item.at_ns, details)


def _freeze(process: Process) -> Iterable[Mark]:
    freeze = process.freeze
    if freeze is not None and freeze.frozen:
        yield Mark("freeze: nothing is compiled from here on", freeze.at_ns)
