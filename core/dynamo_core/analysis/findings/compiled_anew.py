"""Findings: functions that were compiled from the start again and again, with nothing in them changed."""

from collections.abc import Iterator, Sequence

from ...model import Compile, Frame, Process, resumed_function
from ..by_compile import ByCompile, by_compile
from ..figures import Figures
from ..library import is_library
from ..remedies.advice import Advice, edit
from ..words import frame_name, number, place, process_title, seconds
from .draft import Draft, tests_of
from .finding import Cost, Evidence, Figure
from .remedy import remedies

_OFTEN = 3  # times; a function can be made twice for good reasons

_RESET = edit(
    "`torch._dynamo.reset()` throws away all that was compiled: call it where the program begins to do "
    "something else, not in a loop.",
    "reset removed",
)
_DEFINED = Advice("define the function once, outside of the loop, and pass in what differs.")


def compiled_anew(figures: Figures) -> Iterator[Draft]:
    """One for each function of the user's of which copies, or the same one after resets, were compiled."""
    for process in figures.recording.processes:
        by_function: dict[object, list[Compile]] = {}
        for compile_ in process.compiles:
            if _is_first(compile_):
                by_function.setdefault((compile_.name, compile_.place), []).append(compile_)
        often = [same for same in by_function.values() if len(same) >= _OFTEN]
        frames = by_compile(process.frames) if often else ByCompile()
        for same in often:
            yield _draft(figures, process, same, next(iter(frames.get(same[-1].compile_id, ())), None))


def _is_first(compile_: Compile) -> bool:
    """Whether it is the first compile of a function of the user's, as Dynamo counts them."""
    compile_id = compile_.compile_id
    return (
        compile_.is_forward
        and compile_.fail_type is None
        and compile_id is not None
        and compile_id.compile == 0
        and compile_.place is not None
        and not is_library(compile_.place)
        and resumed_function(compile_.name) is None
    )


def _draft(figures: Figures, process: Process, same: Sequence[Compile], frame: Frame | None) -> Draft:
    first = same[0]
    spent = sum(compile_.seconds or 0.0 for compile_ in same[1:])
    generations = {compile_.compile_id.generation for compile_ in same if compile_.compile_id is not None}
    is_reset = len(generations) > 1
    where = f"{place(first.place)}{process_title(process, figures.recording)}"
    return Draft(
        "compiled anew",
        key=("reset" if is_reset else "defined anew",),
        title=f"{frame_name(first.name)} at {where} was compiled {number(len(same), 'time')} from the start: "
        f"{seconds(spent)} after the first",
        cause="what had been compiled was thrown away by torch._dynamo.reset()"
        if is_reset
        else "each time it was another function object with code of its own",
        processes=(process,),
        place=first.place,
        function=first.name,
        via=None if frame is None else (frame.called_from if is_reset else frame.compiled_by),
        cost=Cost(Figure(spent, "measured"), saves_at_most=Figure(spent, "measured")),
        evidence=Evidence(
            tuple(str(compile_.compile_id) for compile_ in same),
            times=len(same),
            tests=tests_of(process, same),
        ),
        remedies=remedies("compiled anew", [_RESET if is_reset else _DEFINED]),
    )
