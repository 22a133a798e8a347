"""Lines of stacks: the caller's outside of torch and of us, and whose line a finding stands at."""

from dataclasses import replace
from pathlib import Path

from dynamo_core.capture.frames.source import (
    caller_of,
    caller_outside_of,
    frames_outwards,
    is_in,
    stack_line,
)
from dynamo_core.findings import find
from dynamo_core.model import Place, StackFrame
from support.made import of_one_process
from support.made_findings import a_break, fallback

HERE = str(Path(__file__))


def test_frames_are_told_from_the_caller_outwards() -> None:
    names: list[str] = []

    def inner() -> None:
        for frame in frames_outwards():
            names.append(frame.f_code.co_name)

    inner()
    assert names[:2] == ["inner", "test_frames_are_told_from_the_caller_outwards"]
    assert len(names) > 3


def test_the_caller_is_the_innermost_line_that_is_not_of_the_folder() -> None:
    found = caller_outside_of("/there/is/none/")
    assert found is not None
    assert (found["file"], found["name"]) == (
        HERE,
        "test_the_caller_is_the_innermost_line_that_is_not_of_the_folder",
    )
    assert found["text"] == 'found = caller_outside_of("/there/is/none/")'
    outside = caller_outside_of(f"{Path(HERE).parent}/")
    assert outside is not None and outside["file"] != HERE


def test_what_goes_on_behind_a_break_was_called_by_what_called_its_function() -> None:
    def resumed_by(name: str) -> str:
        code = test_without_any_caller_outside_there_is_none.__code__.replace(co_name=name)
        found = caller_of(code, "/there/is/none/")
        assert found is not None
        return str(found["name"])

    assert resumed_by("another") == resumed_by("torch_dynamo_resume_in_another_at_9") == "resumed_by"
    assert resumed_by("torch_dynamo_resume_in_resumed_by_at_9") == (
        "test_what_goes_on_behind_a_break_was_called_by_what_called_its_function"
    )
    assert resumed_by("resumed_by") == "resumed_by"  # which calls itself


def test_without_any_caller_outside_there_is_none() -> None:
    assert caller_outside_of("") is None


def test_a_frame_is_in_a_folder_by_its_file() -> None:
    here = next(frames_outwards())
    assert is_in(here, f"{Path(HERE).parent}/") and not is_in(here, "/there/is/none/")
    assert stack_line(here)["line"] == here.f_lineno


def test_where_a_library_stands_between_the_line_is_the_programs_and_it_leads_into_the_librarys() -> None:
    library = StackFrame(Place("/venv/lib/python3.11/site-packages/gnn/conv.py", 3), "conv", "x.item()")
    met = a_break()
    deep = replace(met, stack=(*met.stack, replace_line(library, 2), library))
    frame = replace(fallback(), compile_id=met.compile_id, stopped=deep)
    (found,) = find(of_one_process(frames=[frame]))
    assert (found.place, found.function, found.via) == (Place("/home/me/train.py", 7), "forward", library)
    assert found.source == "print(x)"
    (plain,) = find(of_one_process(frames=[replace(frame, stopped=met)]))
    assert plain.via is None


def replace_line(frame: StackFrame, line: int) -> StackFrame:
    return frame._replace(place=frame.place._replace(line=line))
