"""When a frame was compiled again: how long after the begin, in which of its calls, in which thread."""

from typing import Annotated

from ..model import CompileId, Frame, Process, Recording
from ..shared.quick_dataclass import dataclass
from .compile_records import CompileRecords


@dataclass(frozen=True)
class Moment:
    """When it was, as far as that was recorded."""

    seconds: Annotated[float | None, "from when the program began"]
    call: Annotated[int | None, "of the frame's compiled versions, from 1; null where not all were noted"]
    thread: Annotated[str | None, "its name; null for the main one, or where it was not recorded"]


def moment_of(compile_id: CompileId | None, records: CompileRecords, recording: Recording) -> Moment:
    """The moment at which a compile began, as far as it is known."""
    frame = records.frames.get(compile_id)
    began_ns = None if frame is None else _began(frame)
    if frame is None or began_ns is None:
        return Moment(None, None, None)
    since_begin = seconds_since_begin(began_ns, records.process.entire, recording)
    return Moment(since_begin, _call(compile_id, records, began_ns), frame.thread)


def seconds_since_begin(at_ns: int | None, process: Process, recording: Recording) -> float | None:
    """How long after the program began that was; None where either is not known."""
    origin_ns = recording.run.started_ns if recording.run is not None else process.info.began_ns
    return None if origin_ns is None or at_ns is None else max(0.0, (at_ns - origin_ns) / 1e9)


def _began(frame: Frame) -> int | None:
    if frame.ended_ns is None or frame.seconds is None:
        return None
    return frame.ended_ns - round(frame.seconds * 1e9)


def _call(compile_id: CompileId | None, records: CompileRecords, began_ns: int) -> int | None:
    """The number of the call that had to compile; None where the calls before it were not all noted."""
    if compile_id is None:
        return None
    calls = records.calls_of_frame(compile_id)
    if calls is None:
        return None
    least, most = calls.at(began_ns)
    return least + 1 if least == most else None
