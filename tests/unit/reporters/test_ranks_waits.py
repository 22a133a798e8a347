"""What ranks waited for each other, in sentences."""

from dataclasses import replace

from dynamo_core.analysis.ranks import CompileWait, CompileWaits, HostClock, LateRank, TimedCompile, Waiting
from dynamo_reporters.page.blocks import Bullets, Heading, Paragraph
from dynamo_reporters.ranks import came_late, compiled_meanwhile
from support.ranks_by_hand import HERE

AT = "/home/user/train.py:7"
FIRST = TimedCompile("[7/0]", "local", HERE, 5.0, None)
AGAIN = TimedCompile("[7/1]", "local", None, 2.0, "size mismatch")
WAITING = Waiting((0, 1), 3, "all_reduce", HERE, 3.5, 4.5)
WAIT = CompileWait(2, FIRST, 0, (), (WAITING,), 8.0, None)
CLOCK = HostClock("a", (0, 1, 2), 0.0, 0.0, 9)
FOUND = CompileWaits((WAIT,), 8.0, (CLOCK,), 10, 10, 0, 0)
LATE = LateRank(2, 3, "all_reduce", HERE, 1200, 2000, (0, 1), 10.0, 4, 5.0)


def bullets(blocks: object) -> list[str]:
    return [item for block in blocks if isinstance(block, Bullets) for item in block.items]  # type: ignore[attr-defined]


def said(**changed: object) -> list[str]:
    """The line of a wait that differs so from the usual one."""
    return bullets(compiled_meanwhile(replace(FOUND, waits=(replace(WAIT, **changed),))))  # type: ignore[arg-type]


def note(**changed: object) -> str:
    """What is said below the waits."""
    *_, last = compiled_meanwhile(replace(FOUND, **changed))  # type: ignore[arg-type]
    assert isinstance(last, Paragraph)
    return last.text


def test_a_compile_is_told_with_who_was_where_meanwhile() -> None:
    assert said() == [
        f"rank 2 compiled local at {AT} [7/0] for 5.00 s: ranks 0 and 1 were in graph 3 (all_reduce at {AT}) "
        "for 3.50 s to 4.50 s of it; 8.00 s in all"
    ]
    one = Waiting((1,), 3, "all_reduce", None, 3.5, 3.5)
    assert said(compile=AGAIN, waiting=(one,), uncertainty_seconds=0.002) == [
        "rank 2 compiled local [7/1] again for 2.00 s (size mismatch): rank 1 was in graph 3 (all_reduce) "
        "for 3.50 s of it, each to within 2 ms"
    ]
    (both,) = said(waiting=(one, one))
    assert "of it; rank 1 was in" in both and both.endswith("; 8.00 s in all")


def test_what_it_compiled_before_is_named_up_to_three() -> None:
    (three,) = said(after=(AGAIN,) * 3)
    (four,), (five,) = (said(after=(AGAIN,) * count) for count in (4, 5))
    assert "; since its last noted call, rank 2 had compiled local [7/1] again" in three
    assert three.count("[7/1]") == five.count("[7/1]") == 3
    assert not three.endswith("more") and four.endswith(" and 1 more") and five.endswith(" and 2 more")


def test_the_costliest_five_are_shown_and_what_the_others_cost() -> None:
    waits = tuple(replace(WAIT, rank=number) for number in range(7))
    lines = bullets(compiled_meanwhile(replace(FOUND, waits=waits)))
    assert len(lines) == 6 and lines[-1] == "2 more compiles: 16.00 s in all"
    assert len(bullets(compiled_meanwhile(replace(FOUND, waits=waits[:5])))) == 5
    assert list(compiled_meanwhile(replace(FOUND, waits=()))) == []


def test_below_stands_how_well_it_is_known() -> None:
    total = "In all, ranks were in such calls for 8.00 s while another compiled."
    assert note() == f"{total} All ranks name the same host, whose clock is taken to be one."
    behind = HostClock("b", (3,), -1.5, 0.003, 40)
    unnamed = HostClock(None, (4,), None, None, 1)
    assert note(clocks=(CLOCK, behind, unnamed)) == (
        f"{total} The clock of b (rank 3) is 1.50 s behind that of a (ranks 0-2), by the ends of 40 calls "
        "that ranks on both made together; nine in ten of them agree on that to within 3 ms. The clock of "
        "rank 4, whose host was not recorded, could not be compared with that of a (ranks 0-2): 1 call that "
        "ranks on both make together was noted, and 3 are needed; what is between ranks on these two is not "
        "counted here."
    )
    assert "is 1.50 s ahead of that" in note(clocks=(CLOCK, replace(behind, offset_seconds=1.5)))
    assert "is 0 µs ahead of that" in note(clocks=(CLOCK, replace(behind, offset_seconds=0.0)))
    assert "could not be compared" in note(clocks=(CLOCK, replace(behind, uncertainty_seconds=None)))


def test_what_was_not_looked_at_is_counted() -> None:
    told = note(noted_calls=2, shorter_calls_left_out=1, ranks_not_looked_at=6)
    assert told.endswith(
        "to be one. Of 10 calls in which a rank could have waited, 2 were noted one by one; the others are "
        "not counted here. Not looked at: 1 call that took less. Not looked at: 6 ranks for which another "
        "stands."
    )


def test_a_rank_that_comes_late_is_told_with_its_graph() -> None:
    heading, _, explanation = came_late([LATE])
    assert isinstance(heading, Heading) and isinstance(explanation, Paragraph)
    assert bullets(came_late([LATE])) == [
        f"rank 2 had the shortest in 1,200 of 2,000 calls of graph 3 (all_reduce at {AT}): on ranks 0 and 1 "
        "they took 10.00 s longer in all, beyond what it was compiling, up to 5.00 s in the 4th call"
    ]
    assert bullets(came_late([LATE] * 6))[-1] == "and 1 other"
    assert len(bullets(came_late([LATE] * 5))) == 5
    assert list(came_late([])) == []
