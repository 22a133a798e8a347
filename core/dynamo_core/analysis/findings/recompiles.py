"""Findings: frames that were compiled again, by the guard that failed, or until torch's limit was hit."""

from collections.abc import Iterator, Sequence
from functools import partial

from ..eager_calls import how_often_eager
from ..figures import Figures
from ..guard_failures import what_differed
from ..lasting_text import without_numbers
from ..recompile_causes import RecompileCause, causes_of
from ..recompile_sentences import cause_sentence
from ..recompiles import FrameRecompiles
from ..remedies.recompiles import recompile_advice
from ..words import number, place, process_title, seconds
from .draft import Draft, tests_of
from .finding import NOT_RECORDED, Cost, Evidence, Figure, Kind
from .remedy import remedies

_IN_TORCHS_WORDS = ("other", "not recorded", "global state", "relation of sizes")


def recompiles(figures: Figures) -> Iterator[Draft]:
    """A draft for each cause of recompiles, of every frame that was compiled again."""
    for frame in figures.recompiled:
        yield from of_frame(figures, frame)


def of_frame(figures: Figures, frame: FrameRecompiles) -> Iterator[Draft]:
    """One for each cause; one for a frame that hit the limit, by its most frequent cause."""
    causes = causes_of(frame)
    if frame.limit is not None:
        # Which cause comes how often differs from run to run; which is the most frequent hardly does.
        causes.sort(key=lambda cause: -len(cause.met))
        yield _draft(figures, "recompile limit", causes)
        return
    for cause in causes:
        kind: Kind = "compiled anew" if cause.kind == "backend" else "recompile"
        yield _draft(figures, kind, [cause], is_one_of_several=len(causes) > 1)


def _draft(
    figures: Figures, kind: Kind, causes: Sequence[RecompileCause], *, is_one_of_several: bool = False
) -> Draft:
    """A finding on recompiles of one frame, of which the first cause is the one that it names."""
    main, frame = causes[0], causes[0].frame
    compiles = [compile_ for cause in causes for compile_ in cause.compiles]
    checks = [failure.check for cause in causes for failure in cause.failures if failure.check]
    spent = sum(compile_.seconds or 0.0 for compile_ in compiles)
    count = number(len(compiles), "recompile")
    limit = ", and then torch's limit was hit" if kind == "recompile limit" else ""
    where = f"{place(frame.place)}{process_title(frame.process, figures.recording)}"
    outside = figures.outside_seconds(frame.process) if kind == "recompile limit" else None
    # Findings of one frame are told apart by what differed.
    failure = main.failure if is_one_of_several and main.kind not in _IN_TORCHS_WORDS else None
    what = "" if failure is None or main.kind == "backend" else f" for the {what_differed(failure)}"
    return Draft(
        kind,
        key=_key(main),
        title=f"{frame.shown_name} at {where}: {count}{what} took {seconds(spent)}{limit}",
        cause=partial(cause_sentence, main),
        processes=(frame.process,),
        place=main.place,
        function=frame.name,
        source=main.line,
        effect=_effect(frame) if kind == "recompile limit" else "",
        via=main.call,
        cost=_cost(main, spent, outside),
        outside_seconds=0.0 if main.is_rightly_apart else outside or 0.0,
        evidence=Evidence(
            tuple(str(compile_.compile_id) for compile_ in compiles if compile_.compile_id is not None),
            (),
            tuple(dict.fromkeys(checks)),
            len(compiles),
            tests_of(frame.process, compiles),
        ),
        remedies=lambda: remedies(kind, recompile_advice(main)),
    )


def _key(cause: RecompileCause) -> tuple[str, ...]:
    if cause.kind not in _IN_TORCHS_WORDS:
        return cause.key
    return (cause.kind, *(without_numbers(part.partition("\n")[0]) for part in cause.key[1:]))


def _effect(frame: FrameRecompiles) -> str:
    """What runs eager since; from which call on, where each version was called but once."""
    versions = frame.versions_called
    if versions is None and frame.raised_at_limit:
        return "a call that fit none of its compiled versions raised an error"
    if versions is None:
        return f"calls that fit none of its compiled versions have run eager since, {how_often_eager(frame)}"
    calls = sum(versions)
    ran = f"its {number(len(versions), 'compiled version')} ran {number(calls, 'call')} in all"
    if frame.raised_at_limit:
        return f"{ran}; a call that fit none of them raised an error"
    since = f"; from call {calls + 1} on it ran eager" if len(versions) == calls else ""
    return f"{ran}{since or ', all others have run eager since'}, {how_often_eager(frame)}"


def _cost(cause: RecompileCause, spent: float, outside: float | None) -> Cost:
    """`outside` is what calls have cost that ran eager since torch's limit was hit, at most."""
    frame = cause.frame
    lost = Figure(spent, "measured") if any(c.seconds is not None for c in frame.compiles) else NOT_RECORDED
    if cause.is_rightly_apart:
        return Cost(lost=lost, saves_at_most=Figure(0.0, "estimated"))
    return Cost(lost=lost, saves_at_most=lost if outside is None else Figure(spent + outside, "estimated"))
