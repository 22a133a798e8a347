"""Findings: frames that were compiled again, by the guard that failed, or until torch's limit was hit."""

from collections.abc import Iterator, Sequence

from ...model import Compile, GuardFailure
from ..figures import Figures
from ..guard_failures import what_differed
from ..recompiles import FrameRecompiles
from ..remedies.advice import Advice
from ..remedies.recompiles import recompile_advice
from ..words import frame_name, number, place, process_title, seconds
from .draft import Draft
from .finding import NOT_RECORDED, Cost, Evidence, Figure, Kind
from .identity import without_numbers
from .remedy import remedies

# torch's words where a cache entry belongs to another call of torch.compile (torch/_dynamo/guards.py).
_ANOTHER_BACKEND = "BACKEND_MATCH"
_ONCE = Advice(
    "call `torch.compile` once, outside of what is called again and again, and keep what it returns: what "
    "one call of it has compiled, another one does not use."
)


def recompiles(figures: Figures) -> Iterator[Draft]:
    """One for each frame and cause; one for a frame that hit the limit, with all of its causes."""
    for frame in figures.recompiled:
        by_cause: dict[tuple[str, ...], list[tuple[Compile, GuardFailure | None]]] = {}
        for compile_ in frame.compiles:
            failure = next(iter(frame.failures(compile_)), None)
            by_cause.setdefault(_cause_of(compile_, failure), []).append((compile_, failure))
        if frame.limit is not None:
            causes = sorted(by_cause, key=lambda cause: -len(by_cause[cause]))
            # Which cause comes how often differs from run to run; which is the most frequent hardly does.
            everything = [pair for cause in causes for pair in by_cause[cause]]
            yield _draft(figures, frame, "recompile limit", causes[0], everything)
            continue
        for cause, same in by_cause.items():
            kind: Kind = "compiled anew" if cause[0] == _ANOTHER_BACKEND else "recompile"
            yield _draft(figures, frame, kind, cause, same)


def _cause_of(compile_: Compile, failure: GuardFailure | None) -> tuple[str, ...]:
    """What differed, without the values; the same in each run."""
    if failure is None:
        return ("not recorded", without_numbers((compile_.recompile_reason or "").partition("\n")[0]))
    if failure.check.startswith(_ANOTHER_BACKEND):
        return (_ANOTHER_BACKEND,)
    if failure.kind == "other" or failure.source is None:
        return (failure.kind, without_numbers(failure.check))
    return (failure.kind, failure.source, "" if failure.index is None else str(failure.index))


def _draft(
    figures: Figures,
    frame: FrameRecompiles,
    kind: Kind,
    cause: tuple[str, ...],
    same: Sequence[tuple[Compile, GuardFailure | None]],
) -> Draft:
    spent = sum(compile_.seconds or 0.0 for compile_, _ in same)
    failures = [failure for _, failure in same if failure is not None]
    first = failures[0] if failures else None
    count = number(len(same), "recompile")
    limit = ", and then torch's limit was hit" if kind == "recompile limit" else ""
    where = f"{place(frame.place)}{process_title(frame.process, figures.recording)}"
    name = f"{frame_name(frame.name)} at {where}"
    advice = [_ONCE] if kind == "compiled anew" else recompile_advice(failures, frame.symbols)
    place_of = None if first is None else frame.place_of(first)
    return Draft(
        kind,
        key=cause,
        title=f"{name}: {count} took {seconds(spent)}{limit}",
        cause=_sentence(kind, first),
        processes=(frame.process,),
        place=place_of or frame.place,
        function=frame.name,
        source=(first.user_code or "").strip() if first is not None else "",
        effect=_effect(kind, frame),
        cost=_cost(figures, frame, kind, spent),
        evidence=Evidence(
            tuple(str(compile_.compile_id) for compile_, _ in same if compile_.compile_id is not None),
            (),
            tuple(dict.fromkeys(failure.check for failure in failures if failure.check)),
            len(same),
        ),
        remedies=remedies(kind, advice[:2]),
    )


def _sentence(kind: Kind, failure: GuardFailure | None) -> str:
    if failure is None:
        return "torch does not say which guard failed"
    if kind == "compiled anew":
        return "torch.compile was called anew, and what an earlier call of it had compiled is not used"
    values = dict.fromkeys(value for value in (failure.expected, failure.actual) if value is not None)
    between = f" ({', '.join(values)})" if values and failure.kind != "other" else ""
    return f"{what_differed(failure)} is not what it was compiled for{between}"


def _effect(kind: Kind, frame: FrameRecompiles) -> str:
    if kind != "recompile limit":
        return ""
    return "calls that fit none of its compiled versions have run eager since"


def _cost(figures: Figures, frame: FrameRecompiles, kind: Kind, spent: float) -> Cost:
    lost = Figure(spent, "measured") if any(c.seconds is not None for c in frame.compiles) else NOT_RECORDED
    if kind != "recompile limit":
        return Cost(lost=lost, saves_at_most=lost)
    outside = figures.outside_seconds(frame.process)
    return Cost(lost=lost, saves_at_most=lost if outside is None else Figure(spent + outside, "estimated"))
