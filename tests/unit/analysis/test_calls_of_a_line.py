"""The frames that a line led to which breaks the graph, without naming them."""

from pathlib import Path

from dynamo_core.analysis.calls_of_a_line import CallsOfLines
from dynamo_core.model import CompileId, Frame, GraphBreak, Place, Process, StackFrame

FILE = "/x/log.py"
NOTE = StackFrame(Place(FILE, 9), "note", "self.entries[name] = repr(value)")


def frame(name: str, line: int, called: StackFrame | None) -> Frame:
    return Frame(
        name, Place(FILE, line), "compiled", None, True, False, CompileId(line, 0), called_from=called
    )


def names_called(*frames: Frame, line: StackFrame = NOTE) -> set[str]:
    process = Process(Path("s.log"), frames=list(frames))
    found = CallsOfLines(process).of([GraphBreak("repr", (line,), CompileId(0, 0))])
    return {each.name for each in found}


INSIDE = StackFrame(Place(FILE, 3), "summary", "return helper(t.min().item())")
ELSEWHERE = StackFrame(Place(FILE, 30), "main", "summary(x)")


def test_what_the_line_calls_by_a_builtin_and_what_that_calls_follow() -> None:
    resumed = frame("torch_dynamo_resume_in_summary_at_3", 3, INSIDE)
    goes_on = frame("torch_dynamo_resume_in_note_at_9", 9, NOTE)
    helper = frame("helper", 20, INSIDE)
    found = names_called(frame("note", 8, None), frame("summary", 1, NOTE), resumed, goes_on, helper)
    assert found == {"summary", "torch_dynamo_resume_in_summary_at_3", "helper"}


def test_what_it_calls_by_name_or_is_called_elsewhere_too_does_not() -> None:
    assert names_called(frame("summary", 1, NOTE), frame("summary", 1, ELSEWHERE)) == set()
    named = NOTE._replace(text="self.entries[name] = repr(summary(value))")
    assert names_called(frame("summary", 1, named), line=named) == set()
    assert names_called(frame("summary", 1, None)) == set()
