"""`dynamo breaks` as JSON: one declaration for the document and its schema."""

from typing import Annotated

from dynamo_core.analysis.break_costs import BreakCost
from dynamo_core.analysis.figures import Figures
from dynamo_core.analysis.findings.in_order import ranked_breaks
from dynamo_core.analysis.remedies.breaks import break_advice
from dynamo_core.analysis.summary import breaks_recorded, recorded
from dynamo_core.model import CompileId, Place, Process, Recording, StackFrame
from dynamo_core.shared.quick_dataclass import dataclass


@dataclass(frozen=True)
class Separated:
    """The graphs before and after a break, by their numbers."""

    process: Process
    compile_id: CompileId | None
    before: list[int]
    after: list[int]


@dataclass(frozen=True)
class Break:
    """A graph break, however often it was met."""

    place: Place | None
    kind: Annotated[str, "torch's name for the kind of break, or the first line of the raw reason"]
    reason: Annotated[str, "torch's whole reason"]
    registry_id: Annotated[str | None, "GBnnnn in torch's graph break registry"]
    link: str | None
    explanation: str | None
    hints: Annotated[list[str] | None, "torch's"]
    advice: Annotated[str | None, "ours"]
    met: Annotated[int, "how often Dynamo met it while compiling"]
    crossed: Annotated[int | None, "how often it was crossed at run time"]
    makes_frame_eager: bool
    compile_ids: Annotated[list[CompileId | None], "of each time it was met"]
    stack: Annotated[list[StackFrame], "from the compiled frame to the line that broke"]
    callers: Annotated[list[StackFrame], "from the program's start to the compiled frame"]
    user_call: Annotated[
        StackFrame | None, "the innermost line of the user's own where the break is in a library"
    ]
    source: Annotated[dict[str, str] | None, "the lines around, by number"]
    between: Annotated[list[Separated], "the graphs that it separates"]


@dataclass(frozen=True)
class FrameInEager:
    """A frame that was not compiled."""

    process: Process
    name: str
    place: Place | None
    compile_id: CompileId | None
    reason: str | None
    broke_at: Annotated[Place | None, "the line that made Dynamo give up, if torch names it"]
    kind: Annotated[str | None, "torch's name for the kind of break that it was"]


@dataclass(frozen=True)
class Breaks:
    """Each graph break, what it separates and what to do about it, and the frames that were not compiled."""

    count: Annotated[int | None, "torch's graph_break_reasons: every break met"]
    breaks: Annotated[list[Break] | None, "distinct ones by place and kind, worst first"]
    fell_back: Annotated[
        list[FrameInEager] | None, "frames that Dynamo could not compile, so that they ran eager"
    ]
    raised: Annotated[list[FrameInEager] | None, "frames whose compile raised an error in the program"]
    skipped: Annotated[list[FrameInEager] | None, "frames that Dynamo left alone"]


def breaks_of(recording: Recording) -> Breaks:
    """The breaks, in the order of the findings."""
    costs = ranked_breaks(Figures(recording))
    is_known = breaks_recorded(recording)
    has_frames = recorded(recording, "frames")
    return Breaks(
        count=sum(cost.distinct.met for cost in costs) if is_known else None,
        breaks=list(map(_break, costs)) if is_known else None,
        fell_back=_frames(recording, "failed") if has_frames else None,
        raised=_frames(recording, "raised") if has_frames else None,
        skipped=_frames(recording, "skipped") if has_frames else None,
    )


def _break(cost: BreakCost) -> Break:
    each, first, explanation = cost.distinct, cost.distinct.first, cost.distinct.first.explanation
    advice = break_advice(first, each.process.torch_version, cost.recompiles.lengthened)
    return Break(
        place=first.place,
        kind=first.kind,
        reason=first.reason,
        registry_id=explanation.registry_id if explanation else None,
        link=explanation.link if explanation else None,
        explanation=explanation.explanation if explanation else None,
        hints=list(explanation.hints) if explanation else None,
        advice=advice[0].text if advice else None,
        met=each.met,
        crossed=each.crossed,
        makes_frame_eager=bool(each.frames_fell_back),
        compile_ids=[occurrence.compile_id for occurrence in each.occurrences],
        stack=list(first.stack),
        callers=list(first.callers),
        user_call=each.user_call,
        source={str(line): text for line, text in first.around.items()} or None,
        between=[
            Separated(
                process=crossing.process,
                compile_id=crossing.compile_id,
                before=[graph.number for graph in crossing.before],
                after=[graph.number for graph in crossing.after],
            )
            for crossing in each.crossings
        ],
    )


def _frames(recording: Recording, outcome: str) -> list[FrameInEager]:
    return [
        FrameInEager(
            process=process,
            name=frame.name,
            place=frame.place,
            compile_id=frame.compile_id,
            reason=frame.reason,
            broke_at=frame.explanation.place if frame.explanation else None,
            kind=frame.explanation.kind if frame.explanation else None,
        )
        for process in recording.processes
        for frame in process.frames
        if frame.outcome == outcome
    ]
