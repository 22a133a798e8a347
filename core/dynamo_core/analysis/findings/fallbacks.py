"""Findings: frames that Dynamo gave up, so that they run eager or end the program, for no break's sake."""

from collections.abc import Iterator

from ...model import CompileId, Place, Process
from ..figures import Figures
from ..recompiles import is_recompile_limit
from ..remedies.breaks import advice_on
from ..summary import fell_back, gave_up
from ..words import first_line, frame_name, place
from .draft import Draft
from .finding import NOT_RECORDED, Cost, Evidence, Figure, Kind
from .identity import without_numbers
from .remedy import remedies


def fallbacks(figures: Figures) -> Iterator[Draft]:
    """One for each frame and reason, but for those that a break or the recompile limit explains."""
    with_break = {id(frame) for cost in figures.breaks for frame in cost.distinct.frames_fell_back}
    for process in figures.recording.processes:
        for frame in process.frames:
            # A limit of capture's own is the user's choice, and has a section of its own.
            if not gave_up(frame) or id(frame) in with_break or frame.limit is not None:
                continue
            if is_recompile_limit(frame.reason):
                continue
            is_eager = fell_back(frame)
            reason = frame.reason
            explanation = frame.explanation.explanation if frame.explanation else reason
            yield _draft(
                figures,
                process,
                "fell back to eager" if is_eager else "compiler error",
                "runs eager" if is_eager else "raised an error in the compiler",
                (frame.name, frame.place, frame.compile_id),
                reason,
                explanation,
            )
        if process.is_ours:
            continue
        for compile_ in process.compiles:
            if compile_.fail_type is not None and not is_recompile_limit(compile_.fail_reason):
                reason = f"{compile_.fail_type}: {first_line(compile_.fail_reason)}"
                known = (compile_.name, compile_.place, compile_.compile_id)
                yield _draft(
                    figures, process, "fell back to eager", "could not be compiled", known, reason, None
                )


def _draft(
    figures: Figures,
    process: Process,
    kind: Kind,
    what: str,
    frame: tuple[str | None, Place | None, CompileId | None],
    reason: str | None,
    explanation: str | None,
) -> Draft:
    name, where, compile_id = frame
    outside = figures.outside_seconds(process) if kind == "fell back to eager" else None
    return Draft(
        kind,
        key=(without_numbers(first_line(reason)),),
        title=f"{frame_name(name)} at {place(where)} {what}: {first_line(reason)}",
        cause=" ".join((explanation or first_line(reason)).partition("\n\n")[0].split()),
        processes=(process,),
        place=where,
        function=name,
        cost=Cost(saves_at_most=NOT_RECORDED if outside is None else Figure(outside, "estimated")),
        evidence=Evidence(() if compile_id is None else (str(compile_id),), (), (reason or "",)),
        remedies=remedies(kind, advice_on(first_line(reason), explanation)),
    )
