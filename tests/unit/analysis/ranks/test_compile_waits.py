"""What compiling on one rank cost the others: along one time line, and only what was noted."""

from dataclasses import replace

import pytest

from dynamo_core.analysis.ranks import CompileWait, CompileWaits, Ranks, compare_ranks, compile_waits
from dynamo_core.model import CallSample, CallTimes, Compile, CompileId, Frame, Graph, Process
from dynamo_reporters.ranks import came_late, compiled_meanwhile
from support.ranks_by_hand import HERE, collective, graph, of, rank

S = 10**9
WAIT = replace(collective("wait_tensor"), target="torch.ops._c10d_functional.wait_tensor")
Call = tuple[float, float]  # begin and end, in seconds


def calls(*spans: Call, unnoted: int = 0, hours: float = 0.0) -> CallTimes:
    noted = tuple(
        CallSample(number, round((begin + 3600 * hours) * S), end - begin)
        for number, (begin, end) in enumerate(spans, 1)
    )
    count = len(spans) + unnoted
    return CallTimes(count, 0.0, {(1, 2): count}, noted, noted, None)


def reduced(
    *spans: Call, name: str = "all_reduce", device: str = "cpu", group: str = "0", unnoted: int = 0
) -> Graph:
    node = collective(name, group=group)
    (tensor,) = node.tensors
    on_device = replace(node, tensors=(replace(tensor, device=device),))
    return graph(on_device, WAIT, times=calls(*spans, unnoted=unnoted))


def compiled(process: Process, begin: float, end: float, *, again: str | None = None, at: int = 0) -> Process:
    compile_id = CompileId(7, at)
    process.frames.append(
        Frame(
            "local", HERE, "compiled", None, True, False, compile_id, ended_ns=round(end * S),
            seconds=end - begin,
        )
    )  # fmt: skip
    process.compiles.append(
        Compile(compile_id, "local", HERE, end - begin, True, None, None, again, None, None, {}, None, None)
    )
    return process


def compared(*processes: Process) -> Ranks:
    return compare_ranks(of(*processes))


def waits(*processes: Process) -> CompileWaits:
    return compared(*processes).compile_waits


def only(found: CompileWaits) -> CompileWait:
    (wait,) = found.waits
    return wait


EVEN: tuple[Call, ...] = ((1, 1.1), (2, 2.1), (3, 3.1))


def test_what_the_others_waited_is_their_time_in_the_collective_during_the_compile() -> None:
    late = rank(2, reduced(*EVEN, (9, 9.1)), host="a")
    others = [rank(n, reduced(*EVEN, (4 + n, 9.1)), host="a") for n in range(2)]
    wait = only(waits(*others, compiled(late, 3.5, 8.5, again="size mismatch")))
    assert (wait.rank, wait.compile.recompile_reason, wait.compile.compile_id) == (
        2,
        "size mismatch",
        "[7/0]",
    )
    (waiting,) = wait.waiting
    assert waiting.ranks == (0, 1) and waiting.place == HERE
    assert (waiting.least_seconds, waiting.most_seconds) == pytest.approx((3.5, 4.5))
    assert wait.seconds == pytest.approx(8.0) and wait.uncertainty_seconds is None


def test_a_call_of_its_usual_length_waited_for_nobody() -> None:
    """Even where it is not known when the other one came to that call."""
    unknown = compiled(rank(1, reduced((1, 2), unnoted=1), host="a"), 3.1, 3.9)
    assert waits(rank(0, reduced((1, 2), (3, 4)), host="a"), unknown).waits == ()
    longer = waits(rank(0, reduced((1, 2), (3, 6)), host="a"), unknown)
    assert only(longer).seconds == pytest.approx(0.8)


def test_what_it_compiled_after_it_had_come_kept_nobody() -> None:
    slow = rank(0, reduced((1, 3)), host="a")
    assert waits(slow, compiled(rank(1, reduced((1, 1.1)), host="a"), 1.2, 2.9)).waits == ()


@pytest.mark.parametrize("other", [{"group": "5"}, {"device": "cuda:0"}, {"name": "broadcast"}])
def test_who_does_not_wait_for_it_did_not_wait_for_its_compile(other: dict[str, str]) -> None:
    late = compiled(rank(1, reduced(*EVEN), host="a"), 3.5, 8.5)
    assert waits(rank(0, reduced(*EVEN, (4, 9), **other), host="a"), late).waits == ()  # type: ignore[arg-type]


def test_a_recompile_just_before_is_named_with_the_compile_that_was_waited_for() -> None:
    late = compiled(compiled(rank(1, reduced((9, 9.1)), host="a"), 2, 5, again="size", at=1), 5, 8.9)
    wait = only(waits(rank(0, reduced((6, 9.1)), host="a"), late))
    assert wait.compile.recompile_reason is None
    assert [each.recompile_reason for each in wait.after] == ["size"]


def test_what_a_rank_waited_for_two_at_once_counts_once() -> None:
    late = [compiled(rank(n, reduced((9, 9.1)), host="a"), 5, 8) for n in (1, 2)]
    found = waits(rank(0, reduced((4, 9.1)), host="a"), *late)
    assert [each.seconds for each in found.waits] == pytest.approx([3.0, 3.0])
    assert found.seconds == pytest.approx(3.0)


def test_versions_of_a_graph_are_counted_together() -> None:
    """After a recompile the calls of the one go on where those of the other ended."""
    first, second = reduced((1, 1.1), (2, 2.1)), reduced((5, 5.1))
    found = compared(
        rank(0, reduced((1, 1.1), (2, 2.1), (3, 5.1)), host="a"), rank(1, first, second, host="a")
    )
    assert [(late.rank, late.longest_number) for late in found.late] == [(1, 3)]
    unknown = reduced((1, 1.1), (2, 2.1), unnoted=4)
    assert compared(rank(0, reduced((1, 1.1), (2, 2.1), (3, 5.1))), rank(1, unknown, second)).late == ()


HOUR: tuple[Call, ...] = ((3601, 3601.1), (3602, 3602.102), (3603, 3603.098))


def test_clocks_of_two_hosts_are_brought_together_by_what_ended_together() -> None:
    late = rank(1, reduced(*HOUR, (3609, 3609.1)), host="b")
    found = waits(rank(0, reduced(*EVEN, (4, 9.1)), host="a"), compiled(late, 3603.5, 3608.5))
    first, second = found.clocks
    assert (first.host, first.offset_seconds, first.uncertainty_seconds) == ("a", 0.0, 0.0)
    assert (second.offset_seconds, second.uncertainty_seconds) == pytest.approx((3600, 0.002), abs=1e-6)
    wait = only(found)
    assert wait.uncertainty_seconds == pytest.approx(0.002, abs=1e-6)
    assert wait.seconds == pytest.approx(4.5, abs=1e-3)
    assert wait.began_ns == pytest.approx(3603.5 * S, abs=1e3)  # by its own clock


def test_hosts_without_enough_in_common_have_no_time_line_and_the_page_says_so() -> None:
    late = compiled(rank(1, reduced((3601, 3601.1), (3609, 3609.1)), host="b"), 3603.5, 3608.5)
    beside = compiled(rank(2, reduced((3601, 3601.1), (3604, 3609.1)), host="b"), 3601.2, 3603)
    found = compared(rank(0, reduced((1, 1.1), (4, 9.1)), host="a"), late, beside)
    assert [(clock.ranks, clock.offset_seconds, clock.calls) for clock in found.compile_waits.clocks] == [
        ((0,), 0.0, 0),
        ((1, 2), None, 2),
    ]
    wait = only(found.compile_waits)  # of those two that share a clock
    assert (wait.rank, wait.waiting[0].ranks, wait.uncertainty_seconds) == (1, (2,), None)
    assert any("too few calls in common" in text for text in found.not_compared)
    assert "2 calls that ranks on both make together were noted, and 3 are needed" in words(found)


def test_ranks_whose_host_was_not_recorded_share_no_clock() -> None:
    found = waits(rank(0, reduced((4, 9.1))), compiled(rank(1, reduced((9, 9.1))), 5, 8))
    assert found.waits == () and [clock.calls for clock in found.clocks] == [0, 1]


def test_calls_that_were_not_noted_are_counted_and_said() -> None:
    late = compiled(rank(1, reduced((9, 9.1), unnoted=4), host="a"), 5, 8)
    found = compared(rank(0, reduced((4, 9.1), unnoted=4), host="a"), late)
    assert (found.compile_waits.calls, found.compile_waits.noted_calls) == (10, 2)
    assert "Of 10 calls in which a rank could have waited, 2 were noted" in words(found)


def test_of_very_many_waits_the_longest_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_waits, "_MOST_LOOKED_AT", 2)  # one call, of two ranks
    late = compiled(compiled(rank(1, reduced((2, 2.1), (9, 9.1)), host="a"), 1.1, 1.9), 5, 8)
    found = compared(rank(0, reduced((1, 2.1), (4, 9.1)), host="a"), late)
    assert only(found.compile_waits).seconds == pytest.approx(3.0)
    assert found.compile_waits.shorter_calls_left_out == 1
    assert "Not looked at: 1 call that took less" in words(found)


def test_a_slow_rank_is_named_with_what_the_others_waited() -> None:
    slow = rank(2, reduced(*EVEN, (9, 9.1)), host="a")
    found = compared(*(rank(n, reduced(*EVEN, (4, 9.1)), host="b") for n in range(2)), slow)
    (late,) = found.late
    assert (late.rank, late.late_calls, late.calls, late.waiting, late.longest_number) == (2, 1, 4, (0, 1), 4)
    assert (late.seconds, late.longest_seconds) == pytest.approx((10.0, 5.0))
    assert found.differences == () and "rank 2 had the shortest in 1 of 4 calls" in words(found)


def test_a_rank_that_compiled_was_not_slow() -> None:
    late = compiled(rank(1, reduced(*EVEN, (9, 9.1)), host="a"), 3.5, 8.9)
    assert compared(rank(0, reduced(*EVEN, (4, 9.1)), host="a"), late).late == ()


def test_ranks_that_come_together_are_neither_late_nor_waited_for() -> None:
    found = compared(*(compiled(rank(n, reduced(*EVEN), host="a"), 0.1, 0.9 + n / 1000) for n in range(8)))
    assert (found.late, found.compile_waits.waits) == ((), ())
    assert words(found) == ""


def words(found: Ranks) -> str:
    return " ".join(map(str, (*came_late(found.late), *compiled_meanwhile(found.compile_waits))))
