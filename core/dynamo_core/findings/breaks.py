"""Findings: graph breaks, and with them the frames that run eager because of one."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

from ..analysis.break_costs import BreakCost, effect_and_cost, title_of
from ..analysis.break_effects import DistinctBreak, Fallback, what_stopped_compile
from ..analysis.figures import Figures
from ..analysis.recompile_echoes import CompileKey, compile_key
from ..analysis.recompiles import is_recompile_limit
from ..analysis.source_lines import is_library
from ..analysis.summary import fell_back, never_tried
from ..analysis.time.wall import across_ranks
from ..analysis.words import first_line, frame_name, number, place, stable_text, without_numbers
from ..model import Compile, Deferred, Frame, GraphBreak, Process, StackFrame, function_of
from ..remedies.break_rules import (
    break_cause,
    draws_numbers,
    leaves_a_loop_to_python,
    loops_over_what_it_finds,
    names_that_decide_a_report,
)
from ..remedies.expected import expected_break
from ..remedies.rules import place_of, user_line
from .build import break_remedies, remedies, remedy
from .finding import NOT_RECORDED, Cost, Draft, Evidence, Figure, Remedy, Shared, tests_of
from .kinds import Kind
from .packed import layers_behind, packing_for
from .static_sizes import KEEP_STATIC, failed_in_a_backend


def breaks(figures: Figures) -> Iterator[Draft]:
    """One of each distinct break that torch does not make on purpose, and that no failed compile explains."""
    failed = {
        process.stream: {each.compile_id for each in _failed_in_plain_trace(process)}
        for process in figures.recording.processes
    }
    for cost in figures.breaks:
        each = cost.distinct
        of_failed = set().union(*(failed.get(process.stream, ()) for process in each.processes))
        if not is_expected(each) and not {met.compile_id for met in each.occurrences} <= of_failed:
            yield of_break(cost, figures)


def is_expected(each: DistinctBreak) -> bool:
    """Whether torch makes the break on purpose, and no frame runs eager because of it."""
    return not each.frames_fell_back and expected_break(each.first) is not None


def of_break(cost: BreakCost, figures: Figures) -> Draft:
    """The finding on one of them. Where it made frames run eager, that is what the finding is about."""
    each = cost.distinct
    first = _with_calls_to_it(figures, each.process, each.as_it_stopped)
    packing = packing_for(figures, each.process, first)
    draws = draws_numbers(first)
    frames = each.frames_fell_back
    kind: Kind = "fell back to eager" if frames else "graph break"
    line, library = user_line(first)
    version = each.process.torch_version
    # Frames that run eager cost no more than what was spent outside of graphs.
    outside = _outside(cost, figures) if frames else None
    calls = figures.calls_of_the_line(each)
    return Draft(
        kind,
        key=(stable_text(first.kind),),
        title=title(first, line, frames),
        cause=partial(break_cause, packing or first, version),
        effect=effect_and_cost(cost),
        processes=each.processes,
        place=first.place if line is None else line.place,
        function=None if line is None else line.function,
        source="" if line is None else line.text.strip(),
        via=None if library is None else first.stack[-1],
        cost=Cost(saves_at_most=outside) if outside is not None else _cost(cost),
        shared_seconds=0.0 if outside is None else outside.seconds or 0.0,
        shares=_shares(cost) if outside is None else (),
        evidence=Evidence(
            tuple(dict.fromkeys(str(b.compile_id) for b in each.occurrences if b.compile_id)),
            tuple(dict.fromkeys(graph.number for crossing in each.crossings for graph in crossing.before)),
            (first.reason,),
            len(frames) or each.met,  # the break may have been met in other frames, too
            tuple(dict.fromkeys(b.test for b in each.occurrences if b.test is not None)),
            each.crossed,
        ),
        remedies=partial(break_remedies, kind, packing or first, version, cost.recompiles.lengthened),
        calls=calls,
        brings_about=cost.recompiles.compiles
        | calls
        | figures.recompiles_below(each.processes, frames, every=leaves_a_loop_to_python(first))
        | figures.recompiles_below_break(each, of_numbers=draws)
        | figures.recompiles_in_loops(each)
        | figures.recompiles_for_a_name(each, names_that_decide_a_report(first), line)
        | _eager_behind(each, draws)
        | {*layers_behind(figures, each.processes, first)},
    )


_SPARSE = "sparse"  # in torch's words on making such a tensor, and on taking one (wrap_tensor)


def _eager_behind(each: DistinctBreak, draws: bool) -> frozenset[CompileKey]:
    """The frames that run eager behind a break for what its line gives them.

    It finds what they loop over, draws numbers, or makes a sparse tensor.
    """
    is_known = draws or loops_over_what_it_finds(each.first)
    if not (is_known or _SPARSE in each.first.reason):
        return frozenset()
    made_by = {met.compile_id for met in each.occurrences}
    return frozenset(
        compile_key(process.stream, frame.compile_id)
        for process in each.processes
        for function in process.resume_functions
        for frame in process.frames
        if function.made_by in made_by and frame.name == function.code_name and fell_back(frame)
        if is_known or _SPARSE in (frame.reason or "")
    )


def title(first: GraphBreak, line: StackFrame | None, frames: Iterable[Frame]) -> str:
    """`forward runs eager: graph break at model.py:7 …`, at the user's own line."""
    shown = f"graph break at {title_of(first, None if line is None else line.place)}"
    names = dict.fromkeys(frame_name(frame.name, frame.method) for frame in frames)
    return f"{', '.join(names)} runs eager: {shown}" if names else shown


def _outside(cost: BreakCost, figures: Figures) -> Figure:
    outside = [(process, figures.most_won(process)) for process in cost.distinct.processes]
    known = [(process, seconds) for process, seconds in outside if seconds is not None]
    return Figure(across_ranks(known), "estimated") if known else NOT_RECORDED


def _cost(cost: BreakCost) -> Cost:
    recompiling = cost.recompiles.seconds
    of_recompiles = Figure(recompiling, "measured") if recompiling else NOT_RECORDED
    if cost.seconds is None:
        return Cost(lost=of_recompiles)
    lost = Figure(cost.seconds + recompiling, "sampled")
    # How much of the time outside is the waiting was not measured, and the waiting stays.
    running = lost if cost.waits_at is None else of_recompiles
    if not cost.seconds_in_parts:
        return Cost(lost=lost, saves_at_most=running)
    return Cost(lost, saves_at_most=Figure((running.seconds or 0.0) + cost.seconds_in_parts, "estimated"))


def _shares(cost: BreakCost) -> tuple[Shared, ...]:
    """What other breaks have in their costs, too: the time without a graph between them, and recompiles."""
    recompiling, outside = cost.recompiles.seconds, cost.seconds
    is_known = outside is not None  # else nothing is known of what fixing it saves
    found = [Shared(cost.recompiles.compiles, recompiling, recompiling if is_known else 0.0)]
    if outside is not None:
        ended = frozenset(map(id, (cost.distinct, *cost.along_with)))
        found.append(Shared(ended, outside, outside if cost.waits_at is None else 0.0))
    return tuple(found)


# Findings: frames that Dynamo gave up, so that they run eager or end the program.


_GENERATOR = "Attempt to trace generator"  # torch/_dynamo/convert_frame.py, 2.8 to 2.15


def fallbacks(figures: Figures) -> Iterator[Draft]:
    """One for each frame and reason, but for those that a break or the recompile limit explains."""
    for fallback in to_be_cured(figures):
        yield of_frame(figures, fallback)
    for process in figures.recording.processes:
        for compile_ in _failed_in_plain_trace(process):
            yield _of_compile(figures, process, compile_)


def _failed_in_plain_trace(process: Process) -> list[Compile]:
    """The compiles that failed, where a plain trace has no more of their frames."""
    return [
        each
        for each in (() if process.is_ours else process.compiles)
        if each.fail_type is not None and not is_recompile_limit(each.fail_reason)
    ]


def to_be_cured(figures: Figures) -> list[Fallback]:
    """The frames that were given up for something that can be cured.

    A generator is never compiled by itself. Of a library's, or of an expression, there is nothing to be done
    about it. One that the line of a break takes values of goes with that break.
    """
    broken = {place_of(cost.distinct.first) for cost in figures.breaks}
    return [
        each
        for each in figures.fallbacks
        if _GENERATOR not in each.stopped.kind
        or not (
            each.frame.name == "<genexpr>"
            or is_library(each.frame.place)
            or (each.frame.called_from or each.frame).place in broken
        )
    ]


def of_frame(figures: Figures, fallback: Fallback) -> Draft:
    """The finding on one of them."""
    process, frame, stopped = fallback
    is_eager = fell_back(frame)
    line, library = user_line(stopped)
    if not is_eager and line not in stopped.stack:  # a backend's error: the line is that of the call
        line = library = None
    where = frame.place if line is None else line.place
    at = "" if where == frame.place else f" because of {place(where)}"
    name, reason = frame_name(frame.name, frame.method), first_line(frame.reason)
    what = "runs eager" if is_eager else "raised an error in the compiler"
    kind: Kind = "fell back to eager" if is_eager else "compiler error"
    packing = packing_for(figures, process, stopped)
    outside = figures.most_won(process)
    return Draft(
        kind,
        key=(without_numbers(reason),),
        title=f"{name} at {place(frame.place)} {what}{at}: {reason}",
        cause=partial(break_cause, packing or stopped, process.torch_version),
        processes=(process,),
        place=where,
        function=frame.name if line is None else line.function,
        source="" if line is None else line.text.strip(),
        via=None if library is None else stopped.stack[-1],
        cost=_cost_of_eager(outside) if is_eager else Cost(),
        shared_seconds=outside or 0.0 if is_eager else 0.0,
        evidence=Evidence(
            () if frame.compile_id is None else (str(frame.compile_id),),
            (),
            (frame.reason or "",),
            tests=tests_of(process, [frame]),
        ),
        remedies=partial(
            _remedies_of_frame,
            kind,
            packing or _with_calls_to_it(figures, process, stopped),
            process,
            frame,
        ),
        brings_about=figures.recompiles_below([process], [frame])
        | {*layers_behind(figures, [process], stopped)},
    )


def _remedies_of_frame(kind: Kind, stopped: GraphBreak, process: Process, frame: Frame) -> tuple[Remedy, ...]:
    """Where a backend failed on a graph with dynamic sizes, they may be kept static, before all else."""
    found = break_remedies(kind, stopped, process.torch_version)
    sizes = {each.name for each in process.symbols if each.compile_id == frame.compile_id}
    if kind != "compiler error" or not sizes or not failed_in_a_backend(frame):
        return found
    return (*remedies(kind, [KEEP_STATIC]), *found)


def _with_calls_to_it(figures: Figures, process: Process, stopped: GraphBreak) -> GraphBreak:
    """A break, with the calls that lead to its function from what the program compiles."""
    if not stopped.stack:
        return stopped
    outermost = stopped.stack[0]
    key = process.stream, outermost.place.file, function_of(outermost.function)
    return replace(stopped, stack=(*figures.calls_to.get(key, ()), *stopped.stack))


def _of_compile(figures: Figures, process: Process, compile_: Compile) -> Draft:
    """What a plain trace of torch's has of a frame that fell back."""
    stopped = what_stopped_compile(process, compile_)
    line, library = user_line(stopped)
    where = compile_.place if line is None else line.place
    at = "" if where == compile_.place else f" because of {place(where)}"
    reason = f"{compile_.fail_type}: {first_line(compile_.fail_reason)}"
    outside = figures.most_won(process)
    return Draft(
        "fell back to eager",
        key=(without_numbers(reason),),
        # No frame's record came, so that the method is not known.
        title=f"{frame_name(compile_.name)} at {place(compile_.place)} could not be compiled{at}: {reason}",
        cause=partial(break_cause, stopped, process.torch_version),
        processes=(process,),
        place=where,
        function=compile_.name,
        source="" if line is None else line.text.strip(),
        via=None if library is None else stopped.stack[-1],
        cost=_cost_of_eager(outside),
        shared_seconds=outside or 0.0,
        evidence=Evidence(() if compile_.compile_id is None else (str(compile_.compile_id),), (), (reason,)),
        remedies=partial(break_remedies, "fell back to eager", stopped, process.torch_version),
    )


def _cost_of_eager(outside: float | None) -> Cost:
    return Cost(saves_at_most=NOT_RECORDED if outside is None else Figure(outside, "estimated"))


# Findings: frames that `dynamo run` left eager: by a limit on what capturing a program may cost, or to keep
# eager's semantics.


_WAITED = "compiling had taken more CPU time than the program itself and what it may take besides"
# By the option: how the frame gets compiled, and what that costs.
_LIFTED = {
    "--loop-limit": "`dynamo run --loop-limit 0` lifts the limit: all turns of the loop are then in one "
    "graph, which takes as much longer to trace and compile; measure it.",
    "--op-limit": "`dynamo run --op-limit 0` lifts the limit; so large a graph takes long to compile.",
    "--trace-limit": "`dynamo run --trace-limit 0` lifts the limit; tracing then takes as long as it needs.",
    "--compile-limit": "a larger `dynamo run --compile-limit` leaves the backend more time.",
    "--capture-budget": "`dynamo run --capture-budget 0` compiles what waited, however long that takes; so "
    "does a run in which the program itself takes as long.",
    "--semantics": "`dynamo run --semantics compiled` compiles what was left to eager, as torch.compile "
    "does; what the program computes may then differ.",
}


def left_eager(figures: Figures) -> Iterator[Draft]:
    """One for each frame that this tool left eager, by a limit or to keep eager's semantics."""
    for process in figures.recording.processes:
        for frame in process.frames:
            if frame.limit is not None:
                name, reason = frame_name(frame.name, frame.method), frame.reason or frame.limit
                evidence = Evidence(records=(reason,), tests=tests_of(process, [frame]))
                yield _left_eager(figures, process, name, frame, frame.limit, evidence)
        for waiting in never_tried(process):
            reason = f"{_WAITED}, in each of its {number(waiting.times, 'call')} (--capture-budget)"
            name, evidence = frame_name(waiting.name), Evidence(records=(reason,))
            yield _left_eager(figures, process, name, waiting, "--capture-budget", evidence)


def _left_eager(
    figures: Figures, process: Process, name: str, frame: Frame | Deferred, limit: str, evidence: Evidence
) -> Draft:
    outside, (reason,) = figures.most_won(process), evidence.records
    return Draft(
        "left eager by dynamo run",
        key=(limit,),
        title=f"{name} at {place(frame.place)} runs eager: {reason}",
        cause=reason,
        processes=(process,),
        place=frame.place,
        function=frame.name,
        cost=_cost_of_eager(outside),
        shared_seconds=outside or 0.0,
        evidence=evidence,
        remedies=remedy("left eager by dynamo run", _LIFTED.get(limit)),
        brings_about=figures.recompiles_below([process], [frame] if isinstance(frame, Frame) else ()),
    )
