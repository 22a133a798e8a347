"""The source around a place: which lines, of which function, and the lines that lead there."""

from pathlib import Path

import pytest

from dynamo_core.analysis.excerpt import excerpt
from dynamo_core.model import (
    Bytecode,
    CompileId,
    Frame,
    GraphBreak,
    Place,
    Process,
    StackFrame,
)
from support.made import with_fields

FILE = "/home/me/model.py"
SOURCE = """\
class Model:
    def forward(
        self,
        x,
    ):
        def scaled(y):
            return y * 2

        for each in x:
            if each.any():
                x = scaled(x)
        return x

    def other(self):
        return 1
"""
LINES = dict(enumerate(SOURCE.splitlines(), 1))
FIRST, AGAIN = CompileId(0, 0), CompileId(1, 0)


def recorded(lines: dict[int, str], breaks: tuple[GraphBreak, ...] = (), **fields: object) -> Process:
    code = Bytecode(FIRST, "forward", "Model.forward", Place(FILE, 2), "its code", lines, (), ())
    return with_fields(Process(Path("s.log"), bytecodes=[code], breaks=list(breaks)), fields)


def shown(process: Process, line: int) -> tuple[int, list[str]]:
    found = excerpt([process], Place(FILE, line), ["0/0"])
    assert found is not None
    return found.first_line, found.text.split("\n")


def test_the_function_of_the_line_is_shown_and_no_line_outside_of_it() -> None:
    assert shown(recorded(LINES), 7) == (6, [LINES[6], LINES[7]])
    first, lines = shown(recorded(LINES), 10)
    assert (first, lines[0], lines[-1]) == (2, LINES[2], LINES[12])
    assert shown(recorded(LINES), 15) == (14, [LINES[14], LINES[15]])


def test_of_a_long_function_the_lines_next_to_it_are_shown() -> None:
    long = {1: "def f(x):"} | {number: f"    x = x + {number}" for number in range(2, 40)}
    first, lines = shown(recorded(long), 20)
    assert (first, len(lines)) == (15, 11)
    wide = dict.fromkeys(long, f"    x = x + {'y' * 300}")
    assert len(shown(recorded(wide), 20)[1]) < 4


def test_what_is_not_known_ends_it() -> None:
    known = {number: text for number, text in LINES.items() if number != 9}
    assert shown(recorded(known), 10) == (10, [LINES[10], LINES[11], LINES[12]])
    assert excerpt([recorded({10: LINES[10]})], Place(FILE, 10), ["0/0"]) is None
    assert excerpt([recorded(LINES)], Place("/home/me/other.py", 10), ["0/0"]) is None
    assert excerpt([recorded(LINES)], Place(FILE, 99), ["0/0"]) is None


def test_the_lines_of_an_inlined_function_are_known() -> None:
    lines = {number: LINES[number] for number in (14, 15)}
    assert shown(recorded({}, lines_traced={FILE: lines}), 15) == (14, [LINES[14], LINES[15]])


def test_the_lines_next_to_a_break_are_known_of_a_function_that_was_inlined() -> None:
    place = Place(FILE, 15)
    around = {14: LINES[14], 15: LINES[15]}
    broke = GraphBreak("print", (StackFrame(place, "other", "return 1"),), FIRST, around=around)
    assert shown(recorded({}, (broke,)), 15) == (14, [LINES[14], LINES[15]])


@pytest.mark.parametrize(("compile_ids", "leads"), [(["0/0"], ["train.py:9", "train.py:30"]), (["1/0"], [])])
def test_the_lines_that_lead_there_stand_innermost_first_without_those_of_libraries(
    compile_ids: list[str], leads: list[str]
) -> None:
    step = StackFrame(Place("/home/me/train.py", 9), "step", "return model(x)")
    library = StackFrame(
        Place("/usr/lib/python3.11/site-packages/torch/nn/modules/module.py", 7), "_call", ""
    )
    at = StackFrame(Place(FILE, 10), "forward", "if each.any():")
    caller = StackFrame(Place("/home/me/train.py", 30), "main", "step(x)")
    frame = Frame("step", step.place, "compiled", None, True, False, FIRST, called_from=caller)
    broke = GraphBreak("jump", (step, step, library, at), FIRST)
    found = excerpt([recorded(LINES, (broke,), frames=[frame])], at.place, compile_ids)
    assert found is not None
    assert [f"{Path(each.place.file).name}:{each.place.line}" for each in found.callers] == leads


def test_the_calls_lead_to_the_one_from_outside_of_what_dynamo_tried() -> None:
    """The model's loop runs eager, and calls the block, which is compiled by itself."""
    train = StackFrame(Place("/home/me/train.py", 30), "main", "model(x)")
    loop = StackFrame(Place(FILE, 42), "forward", "x = block(x)")
    model = Frame("forward", Place(FILE, 40), "failed", "a loop", False, False, AGAIN, called_from=train)
    block = Frame("forward", Place(FILE, 2), "compiled", None, True, False, FIRST, called_from=loop)
    found = excerpt([recorded(LINES, frames=[model, block])], Place(FILE, 10), ["0/0"])
    assert found is not None
    assert found.callers == (loop, train)
