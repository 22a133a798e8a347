"""A decorated function stands at its `def`, and the frame of a step is still the one that Python runs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dynamo_core.bench.measured import find_step
from dynamo_core.capture.frames.source import def_line
from dynamo_core.model import CompileId, Frame, Graph, Place, Process, StackFrame
from dynamo_core.recording.compile_context import use_def_lines
from dynamo_core.shared.names import COMPILE_BEGUN
from support.made import MS, called
from support.trace_bytes import FRAME, process_of, record


def as_it_is(*_: object) -> Callable[[Any], Any]:
    return lambda function: function


@as_it_is(
    "def decorated(",
)
@as_it_is()
def decorated() -> None: ...


def plain() -> None: ...


def test_the_def_is_below_all_decorators() -> None:
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    code = decorated.__code__
    assert lines[code.co_firstlineno - 1] == "@as_it_is("
    found = def_line("decorated", code.co_filename, code.co_firstlineno)
    assert found is not None and lines[found - 1].startswith("def decorated")
    assert def_line("plain", code.co_filename, plain.__code__.co_firstlineno) is None
    assert def_line("decorated", "/there/is/none.py", code.co_firstlineno) is None


def test_functions_are_moved_and_calls_on_the_decorators_line_are_not() -> None:
    first, at_def = Place("/home/me/train.py", 4), Place("/home/me/train.py", 5)
    compile_call = StackFrame(first, "<module>", "@torch.compile")
    frame = Frame("step", first, "compiled", None, True, False, CompileId(0, 0), compiled_by=compile_call)
    graph = Graph(
        1, CompileId(0, 0), 0, None, None, 1, is_compiled=True, times=called([n * MS for n in range(9)])
    )
    graph.frame_name, graph.frame_place = "step", first
    process = Process(Path("s.log"), frames=[frame], graphs=[graph], first_lines={at_def: first})
    use_def_lines(process)
    assert (process.frames[0].place, graph.frame_place) == (at_def, at_def)
    assert process.frames[0].compiled_by == compile_call
    step = find_step(process)
    assert step is not None and (step.place, step.frames) == (at_def, (("/home/me/train.py", 4, "step"),))


def test_a_function_stands_at_its_def_while_it_is_compiled() -> None:
    """So that ranks that are behind are at the same line as those that are done."""
    frame = {"line": 4, "name": "step", "filename": 0, "loc": "@torch.compile"}
    begun = json.dumps({"version": 1, "began_ns": 1, "backward": False, "test": None, "def_line": 5})
    process = process_of(
        record({"str": ["/home/me/train.py", 0]}),
        record({"dynamo_start": {"stack": [frame]}, **FRAME}),
        record({"artifact": {"name": COMPILE_BEGUN, "encoding": "json"}, **FRAME}, begun),
    )
    assert [each.place for each in process.compiling] == [Place("/home/me/train.py", 5)]
