"""Findings: frames that Dynamo gave up, so that they run eager or end the program."""

from collections.abc import Iterator
from functools import partial

from ...model import Compile, GraphBreak, Process
from ..figures import Figures
from ..given_up import GivenUp
from ..lasting_text import without_numbers
from ..library import is_library
from ..recompiles import is_recompile_limit
from ..remedies.breaks import break_cause
from ..remedies.situation import user_line
from ..summary import fell_back
from ..words import first_line, frame_name, place
from .draft import Draft, tests_of
from .finding import NOT_RECORDED, Cost, Evidence, Figure, Kind
from .remedy import break_remedies

_GENERATOR = "Attempt to trace generator"  # torch/_dynamo/convert_frame.py, 2.8 to 2.15


def fallbacks(figures: Figures) -> Iterator[Draft]:
    """One for each frame and reason, but for those that a break or the recompile limit explains."""
    for given_up in to_be_cured(figures):
        yield of_frame(figures, given_up)
    for process in figures.recording.processes:
        for compile_ in () if process.is_ours else process.compiles:
            if compile_.fail_type is not None and not is_recompile_limit(compile_.fail_reason):
                yield _of_compile(figures, process, compile_)


def to_be_cured(figures: Figures) -> list[GivenUp]:
    """The frames that were given up for something that can be cured.

    A generator is never compiled by itself; of a library's, there is nothing to be done about it.
    """
    return [
        each
        for each in figures.given_up
        if not (is_library(each.frame.place) and _GENERATOR in each.stopped.kind)
    ]


def of_frame(figures: Figures, given_up: GivenUp) -> Draft:
    """The finding on one of them."""
    process, frame, stopped = given_up
    is_eager = fell_back(frame)
    line, library = user_line(stopped)
    where = frame.place if line is None else line.place
    at = "" if where == frame.place else f" because of {place(where)}"
    name, reason = frame_name(frame.name, frame.method), first_line(frame.reason)
    what = "runs eager" if is_eager else "raised an error in the compiler"
    kind: Kind = "fell back to eager" if is_eager else "compiler error"
    outside = figures.outside_seconds(process)
    return Draft(
        kind,
        key=(without_numbers(reason),),
        title=f"{name} at {place(frame.place)} {what}{at}: {reason}",
        cause=partial(break_cause, stopped, process.torch_version),
        processes=(process,),
        place=where,
        function=frame.name if line is None else line.function,
        source="" if line is None else line.text.strip(),
        via=None if library is None else stopped.stack[-1],
        cost=_cost(outside) if is_eager else Cost(),
        outside_seconds=outside or 0.0 if is_eager else 0.0,
        evidence=Evidence(
            () if frame.compile_id is None else (str(frame.compile_id),),
            (),
            (frame.reason or "",),
            tests=tests_of(process, [frame]),
        ),
        remedies=partial(break_remedies, kind, stopped, process.torch_version),
    )


def _of_compile(figures: Figures, process: Process, compile_: Compile) -> Draft:
    """What a plain trace of torch's has of a frame that fell back."""
    reason = f"{compile_.fail_type}: {first_line(compile_.fail_reason)}"
    outside = figures.outside_seconds(process)
    return Draft(
        "fell back to eager",
        key=(without_numbers(reason),),
        # No frame's record came, so that the method is not known.
        title=f"{frame_name(compile_.name)} at {place(compile_.place)} could not be compiled: {reason}",
        cause=reason,
        processes=(process,),
        place=compile_.place,
        function=compile_.name,
        cost=_cost(outside),
        outside_seconds=outside or 0.0,
        evidence=Evidence(() if compile_.compile_id is None else (str(compile_.compile_id),), (), (reason,)),
        remedies=partial(
            break_remedies,
            "fell back to eager",
            GraphBreak(reason, (), compile_.compile_id),
            process.torch_version,
        ),
    )


def _cost(outside: float | None) -> Cost:
    return Cost(saves_at_most=NOT_RECORDED if outside is None else Figure(outside, "estimated"))
