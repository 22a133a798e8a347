"""Findings: frames that were compiled again, by the guard that failed, or until torch's limit was hit."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from ..analysis.break_costs import BreakCost
from ..analysis.break_effects import Fallback
from ..analysis.compile_records import CompileRecords
from ..analysis.figures import Figures
from ..analysis.guard_failures import what_differed
from ..analysis.recompile_causes import RecompileCause, calculated_from, causes_of
from ..analysis.recompile_echoes import CompileKey
from ..analysis.recompile_sentences import cause_sentence
from ..analysis.recompiles import FrameRecompiles, how_often_eager, is_recompile_limit
from ..analysis.source_lines import is_library
from ..analysis.summary import ByCompile, by_compile
from ..analysis.words import frame_name, number, place, process_title, seconds, without_numbers
from ..model import Compile, Frame, Process, resumed_function
from ..remedies.recompile_rules import recompile_advice
from ..remedies.rules import Advice, edit
from ..shared.failed_guard import without_member, without_stack_names
from .breaks import is_expected, of_break, of_frame, to_be_cured
from .build import by_identity, of_identities, ranked, remedies
from .finding import NOT_RECORDED, Cost, Draft, Evidence, Figure, tests_of
from .kinds import Kind
from .static_sizes import KEEP_STATIC, fails_if_dynamic

_IN_TORCHS_WORDS = ("other", "not recorded", "global state", "relation of sizes")
_WITHOUT_GUARD = ("backend", "made meanwhile")


def recompiles(figures: Figures) -> Iterator[Draft]:
    """A draft for each cause of recompiles, of every frame that was compiled again."""
    for frame in figures.recompiled:
        yield from of_recompiled_frame(figures, frame)


def of_recompiled_frame(figures: Figures, frame: FrameRecompiles) -> Iterator[Draft]:
    """One for each cause; one for a frame that hit the limit, by its most frequent cause."""
    causes = causes_of(frame)
    if frame.limit is not None:
        # Which cause comes how often differs from run to run; which is the most frequent hardly does. Of
        # equals it is that of the recompile which torch refused. Sizes that the program itself keeps fixed
        # are meant: another mode than that of the warm-up is not.
        known = [cause for cause in causes if cause.kind != "not recorded"]
        refused = [cause for cause in known if frame.limit in cause.compiles]
        causes.sort(
            key=lambda cause: (
                not (cause.is_of_inference_mode and cause.dynamic is False),
                -len(cause.met),
                cause not in refused,
            )
        )
        yield _draft(figures, "recompile limit", causes)
        return
    groups = _with_what_they_are_made_of(causes)
    for together in groups:
        kind: Kind = "compiled anew" if together[0].kind == "backend" else "recompile"
        yield _draft(figures, kind, together, is_one_of_several=len(groups) > 1)


def _with_what_they_are_made_of(causes: Sequence[RecompileCause]) -> list[list[RecompileCause]]:
    """The causes, each alone; that on a number behind those on what the code calculates from it.

    torch made the number dynamic, and then needed the very value of what is made of it.
    """
    made_of_it = {id(cause): calculated_from(cause, causes) for cause in causes}
    groups: dict[int, list[RecompileCause]] = {}
    for cause in causes:
        groups.setdefault(id(made_of_it[id(cause)] or cause), []).append(cause)
    return [
        sorted(together, key=lambda cause: made_of_it[id(cause)] is not None) for together in groups.values()
    ]


def _draft(
    figures: Figures, kind: Kind, causes: Sequence[RecompileCause], *, is_one_of_several: bool = False
) -> Draft:
    """A finding on recompiles of one frame, of which the first cause is the one that it names."""
    main, frame = causes[0], causes[0].frame
    compiles = [compile_ for cause in causes for compile_ in cause.compiles]
    checks = [failure.check for cause in causes for failure in cause.failures if failure.check]
    spent = frame.records.seconds_of(compiles)
    count = number(len(compiles), "recompile")
    # torch's log counts the one that it refused, too, and so do we.
    refused = sum(is_recompile_limit(each.fail_reason) for each in compiles)
    last = "" if len(compiles) == 1 else f"the last{f' {refused}' if refused > 1 else ''} of them "
    is_at_limit = kind == "recompile limit"
    limit = f", {last}refused at torch's limit" if is_at_limit else ""
    # Of a library's function, the user's line that called it.
    is_hidden = frame.place is not None and is_library(frame.place)
    shown = main.place if is_hidden and main.place is not None else frame.place
    where = f"{place(shown)}{process_title(frame.process, figures.recording)}"
    outside = figures.most_won(frame.process) if is_at_limit else None
    # Findings of one frame are told apart by what differed.
    failure = main.failure if is_one_of_several and main.kind not in _IN_TORCHS_WORDS else None
    what = "" if failure is None or main.kind in _WITHOUT_GUARD else f" for the {what_differed(failure)}"
    return Draft(
        kind,
        key=_key(main),
        title=f"{frame.shown_name} at {where}: {count}{what} took {seconds(spent)}{limit}",
        cause=partial(cause_sentence, main),
        processes=(frame.process,),
        place=main.place,
        function=frame.name,
        source=main.line,
        effect="; ".join(filter(None, (_by_cause(causes), _before_this(frame), _effect(frame))))
        if is_at_limit
        else "",
        via=main.call,
        cost=_cost(main, spent, outside),
        shared_seconds=0.0 if main.needs_both_versions else outside or 0.0,
        evidence=Evidence(
            tuple(str(compile_.compile_id) for compile_ in compiles if compile_.compile_id is not None),
            (),
            tuple(dict.fromkeys(checks)),
            len(compiles),
            tests_of(frame.process, compiles),
        ),
        remedies=lambda: remedies(kind, _advice(main, is_at_limit=is_at_limit)),
        brings_about=frozenset[CompileKey]().union(
            *(figures.echoes.of(each) for each in _cured_with(main, causes))
        ),
    )


def _cured_with(main: RecompileCause, causes: Sequence[RecompileCause]) -> Iterator[RecompileCause]:
    """The causes that the advice on the first one is for, too: what brought the others stays."""
    yield main
    yield from (each for each in causes if each is not main and calculated_from(each, causes) is main)


def _key(cause: RecompileCause) -> tuple[str, ...]:
    if cause.kind not in _IN_TORCHS_WORDS:
        return tuple(map(without_stack_names, _with_first_member(cause)))
    return (cause.kind, *(without_numbers(part.partition("\n")[0]) for part in cause.key[1:]))


def _with_first_member(cause: RecompileCause) -> tuple[str, ...]:
    """The key of a cause; of the members that changed together, unnamed in the line, with the first."""
    kind, *rest = cause.key
    owner = without_member(rest[0], cause.line) if rest else None
    if owner is None:
        return cause.key
    alike = [each for each in cause.also_changed if without_member(each, cause.line) == owner]
    return (kind, min(rest[0], *alike), *rest[1:]) if alike else cause.key


def _by_cause(causes: Sequence[RecompileCause]) -> str:
    """How many recompiles of a frame each cause has, where there are several."""
    counts = [
        f"{len(cause.met)} for the {what_differed(cause.failure)}"
        if cause.failure is not None and cause.kind not in (*_IN_TORCHS_WORDS, *_WITHOUT_GUARD)
        else f"{len(cause.met)} for another reason"
        for cause in causes
    ]
    if len(counts) < 2:
        return ""
    return f"of these recompiles {', '.join(counts).replace(' for', ' are for', 1)}"


def _compiled_before(frame: FrameRecompiles) -> int:
    """How many of the versions at the limit are not in this recording, as in that of one cell or test."""
    first = frame.compiles[0].compile_id if frame.limit is not None else None
    # A recompile comes behind the first version, which is always there.
    return 0 if first is None or first.compile is None or first.compile < 2 else first.compile


def _before_this(frame: FrameRecompiles) -> str:
    before = _compiled_before(frame)
    return f"{number(before, 'version')} of it {'was' if before == 1 else 'were'} compiled before" * (
        before > 0
    )


_OF_THE_WHOLE_RUN = (
    "see what the versions were compiled for that came before: `%dynamo explain` in a notebook, or `dynamo "
    "recompiles` of the recording of all tests. {what} can make two versions of each, and no more."
)


def _advice(cause: RecompileCause, *, is_at_limit: bool) -> list[Advice]:
    """What to do about a cause, of a frame at the limit the most frequent one.

    What the backend cannot compile as a dynamic size stays static. A mode that is on or off has not made most
    of the versions at the limit, where they came before this recording.
    """
    if fails_if_dynamic(cause):
        return [KEEP_STATIC]
    is_of_two = cause.kind in ("global state", "requires_grad") or cause.is_of_training
    if not is_at_limit or not is_of_two or _compiled_before(cause.frame) <= len(cause.frame.compiles):
        return recompile_advice(cause)
    what = "Whether gradients are recorded" if cause.is_of_grad_mode else "What differed here"
    return [Advice(_OF_THE_WHOLE_RUN.format(what=what))]


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
    if cause.needs_both_versions:
        return Cost(lost=lost, saves_at_most=Figure(0.0, "estimated"))
    if fails_if_dynamic(cause):  # static, each size is compiled all the same
        return Cost(lost=lost)
    return Cost(lost=lost, saves_at_most=lost if outside is None else Figure(spent + outside, "estimated"))


# Findings: functions that were compiled from the start again and again, with nothing in them changed.


_OFTEN = 3  # times; a function can be made twice for good reasons

_RESET = edit(
    "`torch._dynamo.reset()` throws away all that was compiled: call it where the program begins to do "
    "something else, not in a loop.",
    "reset removed",
)
_DEFINED = Advice("define the function once, outside of the loop, and pass in what differs.")


def recompiled_from_scratch(figures: Figures) -> Iterator[Draft]:
    """One for each function of which the same was compiled after resets, or copies, which are the user's."""
    for process in figures.recording.processes:
        by_function: dict[object, list[Compile]] = {}
        for compile_ in process.compiles:
            if _is_first(compile_):
                by_function.setdefault((compile_.name, compile_.place), []).append(compile_)
        often = [same for same in by_function.values() if _times_from_scratch(same) >= _OFTEN]
        frames = by_compile(process.frames) if often else ByCompile()
        for same in often:
            yield _draft_of_same(
                figures, process, same, next(iter(frames.get(same[-1].compile_id, ())), None)
            )


def _times_from_scratch(same: Sequence[Compile]) -> int:
    """How often it was compiled; of a library's function, which many may call, only after resets."""
    is_librarys = same[0].place is None or is_library(same[0].place)
    return len(_generations(same)) if is_librarys else len(same)


def _generations(same: Sequence[Compile]) -> set[int]:
    return {compile_.compile_id.generation for compile_ in same if compile_.compile_id is not None}


def _is_first(compile_: Compile) -> bool:
    """Whether it is the first compile of a function, as Dynamo counts them."""
    compile_id = compile_.compile_id
    return (
        compile_.is_forward
        and compile_.fail_type is None
        and compile_id is not None
        and compile_id.compile == 0
        and compile_.place is not None
        and resumed_function(compile_.name) is None
    )


def _draft_of_same(figures: Figures, process: Process, same: Sequence[Compile], frame: Frame | None) -> Draft:
    first = same[0]
    spent = CompileRecords(process).seconds_of(same[1:])
    is_reset = len(_generations(same)) > 1
    call = None if frame is None else (frame.called_from if is_reset else frame.compiled_by)
    is_hidden = first.place is not None and is_library(first.place)
    shown = call.place if is_hidden and call is not None else first.place
    where = f"{place(shown)}{process_title(process, figures.recording)}"
    return Draft(
        "compiled anew",
        key=("reset" if is_reset else "defined anew",),
        title=f"{frame_name(first.name, first.method)} at {where} was compiled "
        f"{number(len(same), 'time')} from the start: {seconds(spent)} after the first",
        cause="what had been compiled was thrown away by torch._dynamo.reset()"
        if is_reset
        else "each time it was another function object with code of its own",
        processes=(process,),
        place=shown,
        function=first.name,
        via=call,
        cost=Cost(Figure(spent, "measured"), saves_at_most=Figure(spent, "measured")),
        evidence=Evidence(
            tuple(str(compile_.compile_id) for compile_ in same),
            times=len(same),
            tests=tests_of(process, same),
        ),
        remedies=remedies("compiled anew", [_RESET if is_reset else _DEFINED]),
    )


# What a report has that is about one subject alone, in the order in which the findings have it.


_Subject = TypeVar("_Subject")


def ranked_breaks(figures: Figures) -> list[BreakCost]:
    """Every distinct break with its cost: what is one finding stands together, what torch intends last."""
    return _expected_last(_in_order(_breaks(figures)))


def ranked_problems(figures: Figures) -> list[BreakCost | Fallback]:
    """Every distinct break, and every frame that was given up for something else that can be cured."""
    frames = [(fallback, of_frame(figures, fallback)) for fallback in to_be_cured(figures)]
    return _expected_last(_in_order([*frames, *_breaks(figures)]))


def ranked_recompiles(figures: Figures) -> list[FrameRecompiles]:
    """Every frame that was compiled again, each where the first of its findings stands."""
    return _in_order(
        (frame, draft) for frame in figures.recompiled for draft in of_recompiled_frame(figures, frame)
    )


def _breaks(figures: Figures) -> Iterable[tuple[BreakCost, Draft]]:
    return [(cost, of_break(cost, figures)) for cost in figures.breaks]


def _expected_last(ranked: list[_Subject]) -> list[_Subject]:
    return sorted(ranked, key=lambda each: isinstance(each, BreakCost) and is_expected(each.distinct))


def _in_order(drafted: Iterable[tuple[_Subject, Draft]]) -> list[_Subject]:
    known = list(drafted)
    drafts = [draft for _, draft in known]
    subjects = {id(draft): subject for subject, draft in known}
    same = by_identity(drafts)
    in_order = (subjects[id(draft)] for each in ranked(of_identities(same)) for draft in same[each.identity])
    return list({id(subject): subject for subject in in_order}.values())
