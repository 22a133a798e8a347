"""Where a process was when a signal came: read from what faulthandler wrote, and said."""

from dynamo_core.analysis.ranks import compare_ranks
from dynamo_core.analysis.verdict import stopped_lines, stopped_words
from dynamo_core.model import Place, Process, ProcessEnd, StackFrame
from dynamo_core.recording.calls import parse_stacks
from support.ranks_by_hand import of, rank

C10D = "/x/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py"
TWO_SIGNALS = f"""Stack (most recent call first):
  File "/home/me/train.py", line 3 in <module>
Stack (most recent call first):
  File "{C10D}", line 5356 in barrier
  File "/home/me/train.py", line 12 in torch_dynamo_resume_in_train_at_11
  File "/home/me/a "strange" name.py", line 17 in <module>
"""


def stopped(*known: tuple[str, int, str], number: int = 0) -> Process:
    process = rank(number, ended=False)
    process.runtime.stopped_at = tuple(StackFrame(Place(file, line), name, "") for file, line, name in known)
    return process


def test_the_last_stack_is_read_outermost_first() -> None:
    outer, inner, innermost = parse_stacks(TWO_SIGNALS)
    assert outer == StackFrame(Place('/home/me/a "strange" name.py', 17), "<module>", "")
    assert (inner.place.line, innermost.place, innermost.function) == (12, Place(C10D, 5356), "barrier")


def test_what_is_no_stack_is_none() -> None:
    assert parse_stacks("") == parse_stacks("Stack (most recent call first):\n") == ()
    assert parse_stacks('  File "x.py", line 1 in f\n') == (), "what is above it was lost"
    cut = 'Stack (most recent call first):\n  File "x.py", line 1 in f\nStack (mo'
    assert [each.function for each in parse_stacks(cut)] == ["f"]


def test_the_own_line_is_named_and_what_it_waits_in() -> None:
    own = ("/home/me/train.py", 12, "train")
    assert stopped_words(stopped(own)) == "at /home/me/train.py:12 in train"
    waits = stopped_words(stopped(own, (C10D, 5356, "barrier")))
    where = "torch/distributed/distributed_c10d.py:5356"
    assert waits == f"in barrier ({where}), called at /home/me/train.py:12 in train"
    written = ("/scratch/n3/cn3z6kvuza2hn4tqwfb5kgfmhqvhskrs2yjtfjmmrb6bae3myye6.py", 118, "call")
    assert (
        stopped_words(stopped(own, written)) == f"in call ({written[0]}:118), called at {own[0]}:12 in train"
    )
    assert stopped_words(stopped((C10D, 5356, "barrier"))) == f"in barrier ({where})"
    module, main = ("/home/me/train.py", 30, "<module>"), ("/home/me/train.py", 26, "main")
    called = stopped_words(stopped(module, main, own, (C10D, 5356, "barrier")))
    assert (
        called
        == f"in barrier ({where}), called at /home/me/train.py:12 in train, from /home/me/train.py:26 in main"
    )
    assert stopped_words(stopped()) is None


def test_ranks_that_hang_in_different_collectives_are_told_apart() -> None:
    main = "/home/me/train.py"
    run = of(
        stopped((main, 12, "train"), (C10D, 5356, "barrier"), number=0),
        stopped((main, 14, "train"), (C10D, 3252, "all_reduce"), number=1),
        stopped((main, 14, "train"), (C10D, 3252, "all_reduce"), number=2),
        stopped(number=3),
    )
    first, others, why, unknown = compare_ranks(run).waiting
    assert first.startswith("rank 0 was in barrier (torch/distributed/distributed_c10d.py:5356), called at ")
    assert others.startswith("ranks 1 and 2 were in all_reduce")
    assert others.endswith("train.py:14 in train, outside of compiled graphs")
    assert why.startswith("a collective waits until every rank has called it")
    assert unknown.startswith("rank 3 was in no compiled graph and no compile")
    assert stopped_lines(run)[0].startswith("Python of rank 0 was in barrier")


def test_a_rank_that_an_exception_ended_is_named_with_its_line() -> None:
    raised = rank(0)
    raised.runtime.end = ProcessEnd(
        raised="RuntimeError", raised_file="/home/me/train.py", raised_line=23, raised_in="main"
    )
    first, other = compare_ranks(of(raised, rank(1, ended=False))).waiting
    assert first == "rank 0 ended in an exception, RuntimeError at /home/me/train.py:23 in main"
    assert other.startswith("rank 1 was in no compiled graph")
    raised.runtime.end = ProcessEnd(raised="KeyError")
    assert compare_ranks(of(raised, rank(1))).waiting == ("rank 0 ended in an exception, KeyError",)
    assert compare_ranks(of(rank(0), rank(1))).waiting == ()
