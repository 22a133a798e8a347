"""The source around a place, as far as a recording has it, and the lines that lead to it."""

from collections.abc import Collection, Iterable, Iterator
from itertools import islice

from ..model import Place, Process, StackFrame, function_of
from ..shared.quick_dataclass import dataclass
from .source_lines import indentation, is_library
from .summary import frame_around

_MOST_LINES = 11
_MOST_CHARACTERS = 700
_MOST_CALLERS = 4
_FUNCTION = ("def ", "async def ")
_NEXT = (*_FUNCTION, "class ", "@")
_CLOSING = (")", "]", "}")  # of a bracket: may stand further left than what it belongs to


@dataclass(frozen=True)
class Excerpt:
    """The `text` of lines from `first_line` on, with the one at `place`; of a function no line outside it.

    `callers` leads from it to the line that calls the compiled function, the innermost first, as far as that
    is known, without those in `text` and those of libraries.
    """

    place: Place
    first_line: int
    text: str
    callers: tuple[StackFrame, ...]


def excerpt(processes: Iterable[Process], place: Place, compile_ids: Collection[str]) -> Excerpt | None:
    """The lines around a place that one of these compiles leads to; None where they were not recorded."""
    processes = list(processes)
    known = _lines_of(processes, place.file)
    numbers = _shown(known, place.line)
    if len(numbers) < 2:  # the line itself is said with what is found there
        return None
    text = "\n".join(known[number] for number in numbers)
    leading_there = {each.place: each for each in _callers(processes, place, compile_ids)}
    callers = (
        each
        for at, each in leading_there.items()
        if not is_library(at) and (at.file != place.file or at.line not in numbers)
    )
    return Excerpt(place, numbers[0], text, tuple(islice(callers, _MOST_CALLERS)))


def lines_of_function(process: Process, place: Place) -> list[str]:
    """The lines of the innermost function around a place, as far as they were recorded."""
    known = _lines_of([process], place.file)
    if place.line not in known:
        return []
    first, last = _function(known, place.line)
    return [known[number] for number in range(first, last + 1)]


def _lines_of(processes: Iterable[Process], file: str) -> dict[int, str]:
    lines: dict[int, str] = {}
    for process in processes:
        for graph_break in process.breaks:
            if graph_break.place is not None and graph_break.place.file == file:
                lines.update(graph_break.around)
        lines.update(process.lines_traced.get(file, {}))
        for bytecode in process.bytecodes:
            if bytecode.place.file == file:
                lines.update(bytecode.source)
    return {number: text.rstrip() for number, text in lines.items()}


def _shown(known: dict[int, str], at: int) -> range:
    """The numbers of the lines around it of the innermost function, as many as are to be shown.

    A line from the one that is nearest outward on either side in turn; a gap in what is known ends a side.
    """
    if at not in known:
        return range(0)
    first, last = _function(known, at)
    start, end, size = at, at, len(known[at])
    while end - start + 1 < _MOST_LINES:
        sides = [number for number in (start - 1, end + 1) if first <= number <= last and number in known]
        if not sides:
            break
        nearest = min(sides, key=lambda number: abs(number - at))
        size += len(known[nearest]) + 1
        if size > _MOST_CHARACTERS:
            break
        start, end = min(start, nearest), max(end, nearest)
    while not known[start].strip():
        start += 1
    return range(start, end + 1)


def _function(known: dict[int, str], at: int) -> tuple[int, int]:
    """The first and last line of the innermost function around a line, as far as its lines are known."""
    first, depth = at, indentation(known[at]) + 1
    while not (is_head := _begins(known[first], _FUNCTION) and indentation(known[first]) < depth):
        if known[first].strip() and not _begins(known[first], _CLOSING):
            depth = min(depth, max(indentation(known[first]), 1))
        if first - 1 not in known:
            break
        first -= 1
    outside = indentation(known[first]) if is_head else 0
    last = line = at
    while (text := known.get(line := line + 1)) is not None:
        if not text.strip():
            continue
        is_outside = indentation(text) <= outside and not _begins(text, _CLOSING)
        if is_outside or (not is_head and _begins(text, _NEXT)):
            break
        last = line
    return first, last


def _begins(line: str, words: tuple[str, ...]) -> bool:
    return line.lstrip().startswith(words)


def _callers(
    processes: Iterable[Process], place: Place, compile_ids: Collection[str]
) -> Iterator[StackFrame]:
    for process in processes:
        for graph_break in process.breaks:
            if graph_break.place == place and str(graph_break.compile_id) in compile_ids:
                yield from reversed(graph_break.stack[:-1])
                compile_ids = (str(graph_break.compile_id),)
                break
        first = next((each for each in process.frames if str(each.compile_id) in compile_ids), None)
        call = None if first is None else first.called_from
        met: set[Place] = set()
        while call is not None and call.place not in met:
            met.add(call.place)
            yield call
            call = _call_of(process, call)
        if met:
            return


def _call_of(process: Process, line: StackFrame) -> StackFrame | None:
    """The call of the function that a line is in, as far as Dynamo tried to compile that one, too."""
    of_function = (
        each
        for each in process.frames
        if each.place.file == line.place.file and function_of(each.name) == function_of(line.function)
    )
    around = frame_around(line.place, of_function)
    return None if around is None else around.called_from
