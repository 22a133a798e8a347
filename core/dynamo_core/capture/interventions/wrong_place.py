"""From which line of the program on a call went wrong, once the stage of the compiler is known."""

import ast
import re
from collections.abc import Callable, Sequence
from typing import Any

from ...shared.names import BEFORE, GRADIENT
from .call_in_copy import (
    ALONE,
    BEGINNING,
    EARLIER,
    FOLDED,
    MEMORY,
    NODES,
    OF_ENTRY,
    OPERATIONS,
    PLACE,
    RETURNED,
    SAVED,
    STEPS,
    STEPS_OF_ENTRY,
    STEPS_OF_TRACING,
    TRACED,
    WITH_NUMPY,
    WRITES,
)
from .fork_server import NoAnswer
from .observed_state import RAISED_AT, RESULT, Leaves
from .operation_alone import EVERY_GRAPH
from .operation_log import Operation, first_different_line, first_write_to, is_write, last_operation_on
from .own_decompositions import DECOMPOSED
from .printed_text import PRINTED, PRINTED_AT
from .source_of_value import line_of_returned, lines_that_change
from .state_difference import MINOR, Difference
from .variable_log import first_different_step
from .wrong_beginning import last_of_beginning

Place = tuple[str, int, str]  # file, line and operation
# What a copy of the process says of the operations of the call: in eager, freshly traced, of an entry, alone.
Lines = Callable[[str], dict[str, Any]]
# Whether the call is wrong with a backend of this name, or with one that does only a part of the work.
IsWrong = Callable[[str], bool]

_MOST_DIFFERENCES = 20  # whose operations are looked for
TRACING, STALE = "tracing", "guards"
# Backends and their stages, in order: the first whose result is wrong is where it went wrong.
STAGES = (
    ("eager", TRACING),
    ("aot_eager", "AOTAutograd"),
    (DECOMPOSED, "decompositions"),
)


def place_of(
    differences: Sequence[Difference], stage: str | None, lines: Lines, is_wrong: IsWrong
) -> Place | None:
    """The file, line and operation that differences come from; None if that is not known.

    It is the first operation that differs where the captured graph is not what it should be, the first that
    the stage gets wrong alone, else the one that made or wrote a value that differs last, of several values
    the earliest. Where an entry is stale although its graph is right, or compiled anew is, it is the first
    operation that reads a value which is folded into the code; else what AOTAutograd knew of the memory that
    is written no longer holds: it is the first operation that writes an input.
    """
    first = differences[0]
    eager = lines("")
    operations = eager[OPERATIONS]
    if first.kind == "mutation" and first.path not in eager[MEMORY]:
        written = _one_write(first, lines)
        if written is not None:
            return written
    if first.kind == "structure" and first.path not in eager[MEMORY]:
        return _in_python(None, stage, eager, lines) or _only_line(first, eager)
    if first.path.startswith(GRADIENT + RESULT):
        memory = eager[MEMORY].get(first.path.removeprefix(GRADIENT))
        maker = last_operation_on(operations, memory, writes=False)
        return None if maker is None else (*operations[maker][:2], "")
    alone = _wrong_alone(stage, lines)
    place, gives_other_value = alone or (None, False)
    if place is not None and place[0] == EVERY_GRAPH:
        return None
    is_captured_right = stage not in (TRACING, STALE)
    if stage is not None and is_captured_right:
        if alone is None:  # an operation may be wrong alone: how much has to be compiled tells less
            place = _first_folded(operations, lines)
        elif place is None:
            place = _last_of_beginning(stage, lines, is_wrong) or _first_folded(operations, lines)
        elif not gives_other_value and first.kind not in MINOR and not any(map(is_write, operations)):
            # Other strides and shared memory make no other values where nothing is written.
            place = _last_of_beginning(stage, lines, is_wrong) or place
    elif place is None and not is_captured_right:
        place = _not_as_captured(stage, eager, lines)
    made = [
        last_operation_on(
            operations,
            eager[MEMORY].get(each.path.removeprefix(BEFORE)),
            writes=each.kind == "mutation" and not each.path.startswith(BEFORE),
        )
        for each in differences[:_MOST_DIFFERENCES]
    ]
    last = min((index for index in made if index is not None), default=None)
    is_guessed = stage is not None and is_captured_right  # then it is no known wrong operation
    at = None if last is None else (*operations[last][:2], "" if is_guessed else operations[last][2])
    found = place or at or _only_write(first, operations) or _only_line(first, eager)
    if found is None or not found[0]:
        return None
    return found if is_captured_right else _write_before(found, differences, eager, lines) or found


def _not_as_captured(stage: str | None, eager: dict[str, Any], lines: Lines) -> Place | None:
    """The first line that is not what was captured of it, or is not so any more."""
    operations = eager[OPERATIONS]
    found = lines(TRACED if stage == TRACING else OF_ENTRY)
    place = _in_python(first_different_line(operations, found[OPERATIONS]), stage, eager, lines)
    if place is None and WITH_NUMPY in found:
        place = _in_python(first_different_line(operations, found[WITH_NUMPY]), stage, eager, lines)
    if place is not None or stage == TRACING:
        return place
    inputs = (memory for path, memory in eager[MEMORY].items() if not path.startswith(RESULT))
    return _first_folded(operations, lines) or first_write_to(operations, inputs)


def _first_folded(operations: list[Operation], lines: Lines) -> Place | None:
    """The first operation that reads what has changed since it was folded into the code; None without one."""
    try:
        others = lines(FOLDED)[OPERATIONS]
    except NoAnswer:  # a call for each value may take too long
        return None
    different = first_different_line(operations, others) if others else None
    return different[0] if different else None


def _wrong_alone(stage: str | None, lines: Lines) -> tuple[Place | None, bool] | None:
    """The first operation that the backend of a stage gets wrong even alone, or that does something else than
    it says, and whether it gives another value then; None where that took too long.
    """
    if stage in (None, STALE):
        return None, False
    try:
        found = lines(f"{ALONE}{_backend_of(stage)}")[PLACE]
    except NoAnswer:  # compiling each operation may take too long
        return None
    return (tuple(found[:3]), found[3]) if found else (None, False)


def undeclared(place: Place | None, stage: str | None, lines: Lines) -> str | None:
    """What the operation of a place does that it does not declare; None where nothing is known of that."""
    if stage in (None, STALE) or place is None:
        return None
    found = lines(f"{ALONE}{_backend_of(stage)}")[PLACE]
    text: str | None = found[4] if found and tuple(found[:3]) == place else None
    return text


def _last_of_beginning(stage: str, lines: Lines, is_wrong: IsWrong) -> Place | None:
    """The operation up to which a stage has to compile the call for it to be wrong; None without one."""
    try:
        operations = lines(NODES)[OPERATIONS]
        place = last_of_beginning(
            operations, lambda count: is_wrong(f"{_backend_of(stage)}{BEGINNING} {count}")
        )
    except NoAnswer:  # compiling the parts may take too long
        return None
    return (place[0], place[1], place[2]) if place and place[0] else None


def _backend_of(stage: str) -> str:
    return {name: backend for backend, name in STAGES}.get(stage, stage)


def _one_write(first: Difference, lines: Lines) -> Place | None:
    """The one line that changes a value of Python's own in eager; None if there are several, or none."""
    try:
        written = {(file, line) for file, line in lines(f"{WRITES}{first.path}")[OPERATIONS]}
    except NoAnswer:  # line by line a call may take too long
        return None
    return (*written.pop(), "") if len(written) == 1 else None


def _write_before(
    place: Place, differences: Sequence[Difference], eager: dict[str, Any], lines: Lines
) -> Place | None:
    """The one line that changes a value of Python's own which differs, too, before a place is reached."""
    changed = [each for each in differences if each.kind == "mutation" and each.path not in eager[MEMORY]]
    try:
        found = lines(f"{WRITES}{changed[0].path}") if changed else {OPERATIONS: []}
    except NoAnswer:  # line by line a call may take too long
        return None
    written = {(file, line) for file, line in found[OPERATIONS]}
    is_before = len(written) == 1 and list(place[:2]) not in found[EARLIER]
    return (*written.pop(), "") if is_before else None


def _in_python(
    of_operation: tuple[Place, int] | None, stage: str | None, eager: dict[str, Any], lines: Lines
) -> Place | None:
    """The line that gave a variable another value than while tracing, if Python comes to it before the place
    of an operation, which stands with its step in eager; else that place.
    """
    place = None if of_operation is None else of_operation[0]
    is_stale = stage == STALE
    try:
        traced = eager[STEPS_OF_ENTRY] if is_stale else lines(STEPS_OF_TRACING)[STEPS]
    except NoAnswer:  # line by line a call may take too long
        return place
    found = first_different_step(eager[STEPS], traced, is_stale=is_stale)
    if found is None or (of_operation and place and place[0] and of_operation[1] < found[1]):
        return place
    return found[0]


def write_after_saving(lines: Lines) -> Place | None:
    """The first operation that writes what was saved for the backward; None without one."""
    found = lines(SAVED)
    operations = found[OPERATIONS]
    writes = [last_operation_on(operations, memory, writes=True) for memory in found[MEMORY].values()]
    first = min((index for index in writes if index is not None), default=None)
    return None if first is None else tuple(operations[first][:3])


def traced_otherwise(lines: Lines) -> Place | None:
    """The first line that gave a variable another value than while tracing; None without one."""
    return _in_python(None, TRACING, lines(""), lines)


def _only_write(first: Difference, operations: list[Operation]) -> Place | None:
    """The one line of the files that compute which changes the Python object that differs; else None."""
    outside, *inside = re.split(r"[\[{]", first.path)
    words = re.findall(r"\w+", outside) if first.kind == "mutation" else []
    if not words:
        return None
    files = {each[0] for each in operations}
    lines = {
        (file, line) for file in files for line in lines_that_change(file, words[-1], in_place=bool(inside))
    }
    return (*lines.pop(), "") if len(lines) == 1 else None


def _only_line(first: Difference, eager: dict[str, Any]) -> Place | None:
    """The line that returned a value of Python's own, or the one line that has operations."""
    if first.path.startswith(RESULT) and eager[RETURNED]:
        file, line = eager[RETURNED]
        return file, line_of_returned(file, line, first.path.removeprefix(RESULT)), ""
    places = {(file, line): name for file, line, name, *_ in eager[OPERATIONS] if line}
    return (*next(iter(places)), next(iter(places.values()))) if len(places) == 1 else None


def raised_at(leaves: Leaves) -> tuple[Any, Any] | None:
    """The file and line of the program at which an exception was raised; None if it is not known."""
    return _place_in(leaves, RAISED_AT)


def printed_at(leaves: Leaves, path: str) -> tuple[Any, Any] | None:
    """The file and line of the program that printed the line of text at a path; None if it is not known."""
    return _place_in(leaves, path.replace(PRINTED, PRINTED_AT, 1))


def _place_in(leaves: Leaves, path: str) -> tuple[Any, Any] | None:
    parts = [leaves.get(f"{path}[{i}]") for i in (0, 1)]
    return None if None in parts else tuple(ast.literal_eval(part[1]) for part in parts if part)
