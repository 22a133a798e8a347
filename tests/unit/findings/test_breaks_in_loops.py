"""Frames that run eager for a break in a loop stand under the break that makes what the loop is over."""

from dataclasses import replace

from dynamo_core.findings import Finding, find
from dynamo_core.model import (
    BreakExplanation,
    CompileId,
    Frame,
    GraphBreak,
    Place,
    ResumeFunction,
    StackFrame,
)
from support.made import of_one_process
from support.made_findings import fallback

FILE = "/home/me/train.py"
RESUMED = "torch_dynamo_resume_in_forward_at_5"
FOUND = BreakExplanation(Place(FILE, 5), "Dynamic shape operator", "Its shape depends on data.", (), None)
BRANCH = "Data-dependent branching"


def found(line: str) -> list[Finding]:
    """What is found of a break on this line, behind which a branch ends the frame."""
    at = StackFrame(Place(FILE, 5), "forward", line)
    broke = GraphBreak("Dynamic shape operator", (at,), CompileId(0, 0), FOUND)
    stopped = GraphBreak(BRANCH, (StackFrame(Place(FILE, 7), RESUMED, "if row.sum() > 0:"),), CompileId(1, 0))
    eager: Frame = replace(
        fallback(reason=BRANCH),
        name=RESUMED,
        place=Place(FILE, 5),
        compile_id=CompileId(1, 0),
        stopped=stopped,
    )
    made = ResumeFunction("__resume_at_8_1", RESUMED, "f", CompileId(0, 0))
    return find(of_one_process(breaks=[broke], frames=[eager], resume_functions=[made]))


def test_a_frame_that_loops_over_what_was_found_follows_from_that_line() -> None:
    loop, inside = found("for row in torch.unique(x):")
    assert (loop.kind, inside.kind) == ("graph break", "fell back to eager")
    assert inside.because_of == loop.identity


def test_a_frame_behind_any_other_break_follows_from_none() -> None:
    assert [each.because_of for each in found("values = torch.unique(x)")] == [None, None]


def test_what_stands_in_a_helper_is_moved_out_of_the_function_that_is_compiled() -> None:
    line = StackFrame(Place(FILE, 7), "spans", "starts = np.random.choice(places)")
    inlined = GraphBreak("numpy", (StackFrame(Place(FILE, 20), "forward", "spans(x)"), line), CompileId(0, 0))
    later = line._replace(place=Place(FILE, 9))
    stopped = GraphBreak("numpy", (later,), CompileId(1, 0))
    frame: Frame = replace(
        fallback(reason="numpy"),
        name="spans",
        place=Place(FILE, 5),
        compile_id=CompileId(1, 0),
        stopped=stopped,
    )
    advised = [each.remedies[0].text for each in find(of_one_process(breaks=[inlined], frames=[frame]))]
    assert advised and all("before the call of `forward`" in each for each in advised)
