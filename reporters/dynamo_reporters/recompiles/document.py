"""`dynamo recompiles` as JSON: one declaration for the document and its schema."""

from typing import Annotated

from dynamo_core.analysis.figures import Figures
from dynamo_core.analysis.findings.in_order import ranked_recompiles
from dynamo_core.analysis.recompile_moments import Moment, moment_of
from dynamo_core.analysis.recompiles import FrameRecompiles
from dynamo_core.model import CompileId, Place, Process, Recording
from dynamo_core.shared.quick_dataclass import dataclass

from ..parts.after_freeze import FreezeDocument, freeze_of
from ..parts.guard_failures import Failure, failure_of
from .advice import advice_for


@dataclass(frozen=True)
class DynamicSize:
    """What a compile of the frame made dynamic."""

    source: str
    symbol: str
    compile_id: CompileId | None


@dataclass(frozen=True)
class Recompile:
    """One compile of a frame that was compiled before."""

    compile_id: CompileId | None
    seconds: float | None
    served: Annotated[int | None, "calls of what it made, to the end; null where they were not counted"]
    moment: Annotated[Moment, "when it began"]
    reason: Annotated[str | None, "torch's recompile_reason"]
    failures: Annotated[list[Failure], "newest entry first"]


@dataclass(frozen=True)
class RecompiledFrame:
    """A frame and its recompiles, in order."""

    process: Process
    name: str | None
    place: Place | None
    seconds: Annotated[float, "of all recompiles of the frame"]
    limit_hit: Annotated[CompileId | None, "the compile that torch refused; the frame ran eager from then on"]
    dynamic: Annotated[list[DynamicSize], "what the frame's compiles made dynamic"]
    advice: Annotated[list[str], "ours"]
    recompiles: list[Recompile]


@dataclass(frozen=True)
class Recompiles:
    """Which guard failed, on which values, and what to do about it."""

    frames: Annotated[list[RecompiledFrame], "in the order of the findings"]
    freeze: Annotated[FreezeDocument | None, "of --freeze-after; null where it was not given"]


def recompiles_of(recording: Recording) -> Recompiles:
    """The frames that were compiled more than once."""
    frames = [_frame(frame, recording) for frame in ranked_recompiles(Figures(recording))]
    return Recompiles(frames, freeze_of(recording))


def _frame(frame: FrameRecompiles, recording: Recording) -> RecompiledFrame:
    return RecompiledFrame(
        process=frame.process,
        name=frame.name,
        place=frame.place,
        seconds=frame.seconds,
        limit_hit=None if frame.limit is None else frame.limit.compile_id,
        dynamic=[DynamicSize(each.source, each.name, each.compile_id) for each in frame.symbols],
        advice=advice_for(frame),
        recompiles=[
            Recompile(
                compile_id=compile_.compile_id,
                seconds=compile_.seconds,
                served=frame.calls(compile_),
                moment=moment_of(compile_.compile_id, frame.records, recording),
                reason=compile_.recompile_reason,
                failures=[
                    failure_of(failure, frame.actual(compile_, failure), frame.place_of(failure))
                    for failure in frame.failures(compile_)
                ],
            )
            for compile_ in frame.compiles
        ],
    )
