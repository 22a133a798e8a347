"""The line that a graph break or a frame in eager is told of: the user's, and where it leads to."""

from dataclasses import replace

from dynamo_core.findings import Finding, find
from dynamo_core.model import CompileId, Frame, GraphBreak, Place, StackFrame
from support.made import of_one_process
from support.made_findings import a_break, fallback

USERS = StackFrame(Place("/home/me/train.py", 7), "forward", "  y = careful.rearrange(x)")
LIBRARYS = StackFrame(Place("/venv/lib/python3.11/site-packages/careful/core.py", 3), "rearrange", "print(x)")


def broken(*stack: StackFrame) -> Finding:
    broke = GraphBreak("Data-dependent branching", stack, CompileId(0, 0))
    (found,) = find(of_one_process(breaks=[broke]))
    return found


def test_a_break_in_the_users_code_is_told_of_its_line_and_leads_nowhere() -> None:
    (found,) = find(of_one_process(breaks=[a_break(line=9, text="  print(x)")]))
    assert (found.place, found.function, found.source, found.via) == (
        Place("/home/me/train.py", 9),
        "forward",
        "print(x)",
        None,
    )
    assert found.evidence.compile_ids == ("0/0",)


def test_a_break_in_a_library_is_told_of_the_users_line_that_leads_there() -> None:
    found = broken(USERS, LIBRARYS)
    assert (found.place, found.source, found.via) == (USERS.place, "y = careful.rearrange(x)", LIBRARYS)


def test_a_break_without_any_line_is_told_of_none() -> None:
    found = broken()
    assert (found.place, found.function, found.source, found.via) == (None, None, "", None)


def test_a_frame_that_runs_eager_is_told_of_the_line_that_stopped_it_else_of_its_own() -> None:
    (own,) = find(of_one_process(frames=[fallback(line=20)]))
    assert (own.place, own.via) == (Place("/home/me/train.py", 20), None)
    assert own.title == "tokens at /home/me/train.py:20 runs eager: generator"
    assert own.evidence.compile_ids == ("9/0",)
    stopped = GraphBreak("generator", (USERS, LIBRARYS), None)
    frame: Frame = replace(fallback(line=20), stopped=stopped, compile_id=None)
    (at_a_line,) = find(of_one_process(frames=[frame]))
    assert (at_a_line.place, at_a_line.via, at_a_line.function) == (USERS.place, LIBRARYS, "forward")
    assert "runs eager because of /home/me/train.py:7: generator" in at_a_line.title
    assert at_a_line.evidence.compile_ids == ()


def test_a_generator_that_is_called_for_a_break_alone_is_no_finding_of_its_own() -> None:
    by_itself = replace(fallback(line=20), reason="Attempt to trace generator", called_from=USERS)
    (found,) = find(of_one_process(frames=[by_itself]))
    assert found.kind == "fell back to eager"
    assert not find(of_one_process(frames=[replace(by_itself, name="<genexpr>")]))
    (found,) = find(of_one_process(frames=[by_itself], breaks=[a_break(line=7, text="rows = next(rows)")]))
    assert found.kind == "graph break"


def test_what_a_line_of_the_users_asks_of_torch_is_the_users_to_change() -> None:
    torchs = LIBRARYS._replace(place=Place("/usr/lib/python3/site-packages/torch/nn/modules/module.py", 9))
    for inside, is_librarys in ((LIBRARYS, True), (torchs, False)):
        met = GraphBreak("generator", (USERS, inside), None)
        (found,) = find(of_one_process(frames=[replace(fallback(line=20), stopped=met, compile_id=None)]))
        assert (found.via, found.is_library) == (inside, is_librarys)
