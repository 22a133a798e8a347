"""What a program was in the middle of when its recording ends, and ranks that are in different calls."""

from dataclasses import replace

import pytest

from dynamo_core.analysis.ranks import compare_ranks
from dynamo_core.analysis.verdict import compiling_words, in_progress_lines
from dynamo_core.model import CallTimes, CompileId, Compiling, Place, ProcessEnd, Run
from support.made import MS, S, of_one_process
from support.made_findings import graph
from support.ranks_by_hand import collective, of, rank, running
from support.ranks_by_hand import graph as graph_with

PLACE = Place("/home/me/train.py", 3)
FIRST = CompileId(0, 0)
ENDED = Run(ended_ns=10 * S)


def compiling(**more: object) -> Compiling:
    known: dict[str, object] = {"compile_id": FIRST, "name": "f", "place": PLACE, "began_ns": 6 * S, **more}
    return Compiling(**known)  # type: ignore[arg-type]


IN_BACKEND = compiling(graph=2, ops=5, backend="inductor", backend_ns=8 * S)


@pytest.mark.parametrize(
    ("which", "who"),
    [
        (compiling(), "traced by Dynamo"),
        (compiling(is_backward=True), "its backward"),
        (IN_BACKEND, "graph 2, 5 ops, in backend inductor"),
        (replace(IN_BACKEND, ops=None), "graph 2, in backend inductor"),
        (replace(IN_BACKEND, ops=1, is_backward=True), "graph 2, 1 op, in backend inductor"),
    ],
)
def test_who_has_a_compile_is_told(which: Compiling, who: str) -> None:
    assert compiling_words(which) == f"f at {PLACE} [0/0]: {who}"


def lines(run: Run = ENDED, **fields: object) -> list[str]:
    return in_progress_lines(of_one_process(run, **fields))


def test_a_compile_that_did_not_end_is_told_with_how_long_it_took_in_all() -> None:
    assert lines(compiling=[compiling()])[0].endswith("traced by Dynamo for 4.00 s")
    assert lines(compiling=[IN_BACKEND])[0].endswith("in backend inductor for 2.00 s (4.00 s in all)")
    assert lines(compiling=[compiling(began_ns=11 * S)])[0].endswith(" for 0 µs")
    (goes_on,) = lines(Run(), compiling=[IN_BACKEND])
    assert " since " in goes_on and "in all" not in goes_on


def test_of_a_program_that_ended_only_what_was_interrupted_is_told() -> None:
    stopped = compiling(interrupted_ns=9 * S, interrupted_by="KeyboardInterrupt")
    (only,) = lines(end=ProcessEnd(), compiling=[compiling()], interrupted=[stopped])
    assert only.endswith("traced by Dynamo for 3.00 s, interrupted by KeyboardInterrupt")


def test_a_call_that_did_not_return_is_told_with_how_many_came_before() -> None:
    def called(calls: int, **more: object) -> CallTimes:
        return CallTimes(calls, 0.0, {}, (), (), None, running_since_ns=9 * S, **more)  # type: ignore[arg-type]

    graphs = [
        graph(1, FIRST, frame_place=PLACE, times=called(0)),
        graph(2, FIRST, frame_place=PLACE, backward=called(1)),
        graph(3, FIRST, frame_place=PLACE, times=called(2, is_running_since_exact=False)),
        graph(4, FIRST, frame_place=PLACE, times=replace(called(2), running_since_ns=None)),
    ]
    at = f"[0/0] of forward at {PLACE}"
    assert lines(graphs=graphs) == [
        f"running graph 1 {at} for 1.00 s, its first call",
        f"running its backward graph 2 {at} for 1.00 s, after 1 call",
        f"running graph 3 {at} for at most 1.00 s, after 2 calls",
    ]
    *_, last = lines(Run(), graphs=graphs)
    assert last.partition(" since ")[2].endswith(" at the earliest, after 2 calls")


def test_ranks_inside_of_other_collectives_wait_for_each_other_from_the_first_that_differs() -> None:
    def inside(number: int, *names: str) -> object:
        nodes = [collective(name) for name in names]
        return rank(number, graph_with(*nodes, times=running(5 * MS)), ended=False)

    same = ("all_reduce", "all_gather")
    sides = [inside(0, *same), inside(1, "all_reduce", "broadcast"), inside(2, *same)]
    said = compare_ranks(of(*sides)).waiting  # type: ignore[arg-type]
    assert said[0] == (
        "ranks 0 and 2 and rank 1 wait for each other: the 2nd collective of the graph in which they are is "
        "all_gather of float32[8] on ranks 0 and 2, and broadcast of float32[8] on rank 1"
    )
    (missing, *_) = compare_ranks(of(inside(0, *same), inside(1, "all_reduce"))).waiting  # type: ignore[arg-type]
    assert missing.endswith("is all_gather of float32[8] on rank 0, and none on rank 1")
    alike = compare_ranks(of(inside(0, *same), inside(1, *same))).waiting  # type: ignore[arg-type]
    assert not any("wait for each other" in each for each in alike)
