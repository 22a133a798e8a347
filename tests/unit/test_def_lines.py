"""A decorated function stands at its `def`, and the frame of a step is still the one that Python runs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from dynamo_core.bench.step_frame import find_step
from dynamo_core.capture.frame_lines import def_line
from dynamo_core.model import CompileId, Frame, Graph, Place, Process, StackFrame
from dynamo_core.recording.def_lines import use_def_lines
from made import MS, called


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
    found = def_line(code)
    assert found is not None and lines[found - 1].startswith("def decorated")
    assert def_line(plain.__code__) is None
    assert def_line(code.replace(co_filename="/there/is/none.py")) is None


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
