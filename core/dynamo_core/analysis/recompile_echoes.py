"""Recompiles that follow from a recompile of the frame above, or from a frame that runs eager.

What a function was recompiled for is met again behind each of its graph breaks, where torch has compiled the
rest of it as a frame of its own, with guards of its own on the same value. What a frame calls is compiled by
itself only where the frame runs eager, and then meets each caller's tensors.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from ..model import Compile, CompileId, Frame, GraphBreak, Place, Process, function_of
from ..model.ids import resumed_function
from .recompile_causes import RecompileCause, causes_of
from .recompiles import FrameRecompiles
from .source_lines import attributes_given, constants_given, is_library
from .summary import frame_of

CompileKey = tuple[Path, str]
"""A compile: the stream of its process, and its id as text."""
_OF_NO_VALUE = ("not recorded", "other", "backend", "freed object")


def compile_key(stream: Path, compile_id: CompileId | None) -> CompileKey:
    """The key of a compile of the process that wrote this stream."""
    return stream, str(compile_id)


class Echoes:
    """Finds the recompiles behind the breaks of a frame that are for what the frame was recompiled for."""

    def __init__(self, frames: Sequence[FrameRecompiles]) -> None:
        self._found: dict[tuple[object, ...], set[CompileKey]] = {}
        for frame in frames:
            above = _frames_above(frame)
            for cause in causes_of(frame) if above else ():
                what = _what_came(cause)
                keys = {compile_key(frame.process.stream, each.compile_id) for each in cause.compiles}
                for at in above if what is not None else ():
                    self._found.setdefault((frame.process.stream, at, what), set()).update(keys)

    def of(self, cause: RecompileCause) -> frozenset[CompileKey]:
        """The recompiles that follow from those of this cause."""
        at = frame_of(cause.compiles[0].compile_id)
        return frozenset(self._found.get((cause.frame.process.stream, at, _what_came(cause)), ()))


def below_eager_frames(
    frames: Iterable[FrameRecompiles], *, every: bool = False
) -> dict[CompileKey, set[CompileKey]]:
    """By frame that fell back to eager, the recompiles of what it calls that would go with the fall-back.

    All those of a library's functions do, which nobody compiles by themselves; and `every` one does where
    nothing that the frame calls is to be compiled.
    """
    found: dict[CompileKey, set[CompileKey]] = {}
    for frame in frames:
        is_librarys = frame.place is not None and is_library(frame.place)
        for cause in causes_of(frame):
            if cause.eager_caller is not None and (every or is_librarys or _is_of_the_call(cause)):
                stream = frame.process.stream
                keys = {compile_key(stream, each.compile_id) for each in cause.compiles}
                found.setdefault(compile_key(stream, cause.eager_caller.compile_id), set()).update(keys)
    return found


def _is_of_the_call(cause: RecompileCause) -> bool:
    """Whether what differs would be known in the graph of the caller, or be a size that no guard is on."""
    if cause.kind != "size":
        return cause.kind == "requires_grad" or _is_known_to_callers(cause)
    frame = cause.frame
    selecting = {each.place for each in frame.process.breaks if _OF_SELECTION in each.kind}
    callers = frame.records.callers_in_order
    calls = {call.place for each in cause.compiles for _, call in callers.get(each.compile_id, ())}
    return bool(calls) and calls <= selecting


# Torch's name of operators, as those that select by a mask, whose results have sizes that no size decides.
_OF_SELECTION = "Dynamic shape operator"
# Torch's name of a break in a loop, for which the loop's whole function runs eager.
_IN_A_LOOP = "graph break in loop"
_OF_A_TENSOR = ("size", "relation of sizes", "stride", "rank", "dtype", "requires_grad", "dispatch keys")
_OF_AN_ARGUMENT = (*_OF_A_TENSOR, "value", "type", "length", "identity")
_IS_NUMBER = re.compile(r"-?\d[\d.e+-]{0,30}")


def below_breaks(
    breaks: Iterable[GraphBreak], frames: Iterable[FrameRecompiles], stream: Path, *, of_numbers: bool = False
) -> frozenset[CompileKey]:
    """The recompiles of functions that are frames of their own for one of these breaks, for another caller.

    Without the break, the graph of each caller would have them in it, for the tensors and constants of that
    call alone. `of_numbers` says that the breaks give numbers, so that those for numbers follow from them.
    """
    met = list(breaks)
    inside = {(frame.place.file, function_of(frame.function)) for each in met for frame in each.stack[1:]}
    of_process = [frame for frame in frames if frame.process.stream == stream]
    causes = [
        cause for frame in of_process if inside and _function(frame) in inside for cause in causes_of(frame)
    ]
    # It is met again where the function goes on behind its break.
    elsewhere = {
        _what_came(cause)
        for cause in causes
        if ((cause.kind in _OF_A_TENSOR or cause.source == "self") and _is_called_elsewhere(cause))
        or _is_known_to_callers(cause)
        or (of_numbers and cause.kind == "value")
    }
    following = [cause for cause in causes if _what_came(cause) in elsewhere]
    if causes:
        begins = _Begins(causes[0].frame.process)
        several = _called_from_several_lines(met, begins, causes[0].frame.process)
        following += [cause for cause in causes if _is_of_an_argument(cause, several, begins)]
    following += _in_a_library(met, of_process)
    return frozenset(
        compile_key(stream, compile_.compile_id) for cause in following for compile_ in cause.compiles
    )


class _Begins:
    """The first lines of the functions that Dynamo tried: methods of several classes have one name."""

    def __init__(self, process: Process) -> None:
        self._of_files: dict[str, list[int]] = {}
        for frame in process.frames:
            if resumed_function(frame.name) is None:
                self._of_files.setdefault(frame.place.file, []).append(frame.place.line)
        for lines in self._of_files.values():
            lines.sort()

    def of(self, place: Place) -> Place:
        """Where the function of a line begins; the line itself where that is not known."""
        lines = self._of_files.get(place.file, [])
        at = bisect_right(lines, place.line)
        return Place(place.file, lines[at - 1]) if at else place


def _called_from_several_lines(breaks: Iterable[GraphBreak], begins: _Begins, process: Process) -> set[Place]:
    """The begins of functions on the way to a break that several lines lead to, in one call or more."""
    lines: dict[Place, set[Place]] = {}
    for frame in process.frames:
        if frame.called_from is not None and resumed_function(frame.name) is None:
            lines.setdefault(frame.place, set()).add(frame.called_from.place)
    found: set[Place] = set()
    for each in breaks:
        way = [begins.of(frame.place) for frame in each.stack[1:]]
        first = next((at for at, begin in enumerate(way) if len(lines.get(begin, ())) > 1), len(way))
        found.update(way[first:])
    return found


def _in_a_library(
    breaks: Iterable[GraphBreak], frames: Iterable[FrameRecompiles]
) -> Iterator[RecompileCause]:
    """The causes in a library's functions that only the line of a break led to, which broke inside of it.

    Without the break they would be in the graph of that line, and not be compiled by themselves.
    """
    lines = set(filter(None, map(_line_that_entered, breaks)))
    for frame in frames if lines else ():
        if frame.place is not None and is_library(frame.place):
            for cause in causes_of(frame):
                if {_line_of_call(frame, each) for each in cause.compiles} <= lines:
                    yield cause


def _line_that_entered(graph_break: GraphBreak) -> Place | None:
    """The user's line that called the library in which the graph broke; None where it broke elsewhere."""
    stack = graph_break.stack
    own = [each.place for each in stack if not is_library(each.place)]
    return own[-1] if own and is_library(stack[-1].place) else None


def _line_of_call(frame: FrameRecompiles, compile_: Compile) -> Place | None:
    call = frame.call(compile_)
    return None if call is None else call.place


def in_loops(
    breaks: Iterable[GraphBreak], eager: Iterable[Frame], frames: Iterable[FrameRecompiles], stream: Path
) -> frozenset[CompileKey]:
    """The recompiles of what a loop calls that runs eager for one of these breaks.

    Without the break the loop would be in one graph, with each object that it calls, and what it gives them.
    A number that an object keeps may be another one in each call of the whole, and counts by itself.
    """
    of_process = [frame for frame in frames if frame.process.stream == stream]
    if not of_process or not any(_IN_A_LOOP in (frame.reason or "") for frame in eager):
        return frozenset()
    innermost = [frame for each in breaks for frame in each.stack[-1:]]
    functions = {(frame.place.file, function_of(frame.function)) for frame in innermost}
    begins = _Begins(of_process[0].process)
    inside = {begins.of(frame.place) for frame in innermost}
    return frozenset(
        compile_key(stream, compile_.compile_id)
        for frame in of_process
        if _function(frame) in functions
        for cause in causes_of(frame)
        if cause.source == "self" or _is_of_an_argument(cause, inside, begins)
        for compile_ in cause.compiles
    )


def _is_of_an_argument(cause: RecompileCause, functions: set[Place], begins: _Begins) -> bool:
    """Whether it was an argument of one of these functions that differed, or is kept and is no number."""
    place = cause.frame.place
    is_kept = (cause.source or "").startswith("self.") and cause.kind == "value"
    return (
        cause.kind in _OF_AN_ARGUMENT
        and place is not None
        and begins.of(place) in functions
        and not (is_kept and any(map(_IS_NUMBER.fullmatch, cause.values)))
    )


def for_a_name(
    names: Collection[str], function: tuple[str, str], frames: Iterable[FrameRecompiles], stream: Path
) -> frozenset[CompileKey]:
    """The recompiles of this function for numbers that have one of these names, as attributes or globals."""
    return frozenset(
        compile_key(stream, compile_.compile_id)
        for frame in frames
        if names and frame.process.stream == stream and _function(frame) == function
        for cause in causes_of(frame)
        if cause.is_int and re.split(r"\W+", (cause.source or "").rstrip("']"))[-1] in names
        for compile_ in cause.compiles
    )


def _is_called_elsewhere(cause: RecompileCause) -> bool:
    """Whether what was compiled again was called from other lines than what was compiled first."""
    callers = cause.frame.records.callers_in_order
    again = {call.place for each in cause.compiles for _, call in callers.get(each.compile_id, ())}
    begin = frame_of(cause.compiles[0].compile_id)
    first = {call.place for _, call in callers.get(begin and begin._replace(compile=0), ())}
    return bool(first and again) and not first & again


def _is_known_to_callers(cause: RecompileCause) -> bool:
    """Whether the graph of a caller would have the value: each is a constant that calls of the function give.

    So is an attribute of the caller's `self` that is given by the name of the argument, and what a closure
    holds that is another function for each call.
    """
    function = function_of(cause.frame.name or "")
    calls = [call.text for _, call in chain.from_iterable(cause.frame.records.callers_in_order.values())]
    written = {each for call in calls for each in constants_given(call, function)}
    is_written = len(cause.values) > 1 and written.issuperset(cause.values)
    is_of_self = any(cause.source in attributes_given(call, function) for call in calls)
    return cause.kind == "value" and (is_written or is_of_self or _is_one_for_each_call(cause))


def _is_one_for_each_call(cause: RecompileCause) -> bool:
    """Whether each of several lines that call the function always leads to the same value."""
    values: dict[CompileId | None, str | None] = {}
    for compile_, failure in cause.met:
        if failure is not None:
            values |= {failure.entry: failure.expected, compile_.compile_id: cause.actual(compile_, failure)}
    came: dict[Place, set[str | None]] = {}
    for compile_id, value in values.items():
        for _, call in cause.frame.records.callers_in_order.get(compile_id, ()):
            came.setdefault(call.place, set()).add(value)
    return len(came) > 1 and all(len(values) == 1 and None not in values for values in came.values())


def _function(frame: FrameRecompiles) -> tuple[str, str] | None:
    place = frame.compiles[0].place
    return None if place is None else (place.file, function_of(frame.name or ""))


def _what_came(cause: RecompileCause) -> tuple[object, ...] | None:
    """What differed and the values that came, whatever the name is under which the frame has them."""
    if cause.kind in _OF_NO_VALUE or cause.failure is None:
        return None
    if cause.kind == "global state":
        return cause.kind, cause.failure.check
    return (cause.kind, *cause.values) if cause.values else (cause.kind, cause.source)


def _frames_above(frame: FrameRecompiles) -> set[CompileId | None]:
    """The frames whose rest this frame is, as `frame_of` names them: where it goes on behind their breaks."""
    found: set[CompileId | None] = set()
    begin = frame.compiles[0].compile_id
    waiting = list(_makers(frame, begin))
    while waiting:
        compile_id = waiting.pop()
        at = frame_of(compile_id)
        if at not in found and at != frame_of(begin):
            found.add(at)
            waiting += _makers(frame, compile_id)
    return found


def _makers(frame: FrameRecompiles, compile_id: CompileId | None) -> Iterator[CompileId | None]:
    """The compiles that made the code of a compile's frame as a resume function."""
    records = frame.records
    for code in chain(*records.codes.of_frame(compile_id).values()):
        yield from records.makers.get(code.fingerprint, ())
