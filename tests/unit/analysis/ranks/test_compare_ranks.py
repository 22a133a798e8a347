"""What ranks are compared by: their collectives by group, their graphs without what is a rank's own."""

from dataclasses import replace
from pathlib import Path

from dynamo_core.analysis.ranks import compare_ranks
from dynamo_core.analysis.ranks.members import Difference, ranks_in_words
from dynamo_core.model import (
    CacheLookup,
    Compile,
    CompileId,
    Compiling,
    EquivalentRank,
    Frame,
    GraphBreak,
    Process,
    ProcessEnd,
    Run,
)
from dynamo_core.shared.records import CachesInUse
from support.made import compiled
from support.made_findings import a_break, recompile
from support.ranks_by_hand import HERE, called, collective, graph, of, rank, running


def test_ranks_are_named_in_runs() -> None:
    assert ranks_in_words([3]) == "rank 3"
    assert ranks_in_words([4, 0, 1, 2]) == "ranks 0-2 and 4"
    assert ranks_in_words([0, 1, 5]) == "ranks 0, 1 and 5"


def test_ranks_that_do_the_same_are_one_row_without_a_difference() -> None:
    found = compare_ranks(of(*(rank(n, graph(collective("all_reduce"))) for n in range(8))))
    assert [row.ranks for row in found.rows] == [tuple(range(8))]
    assert (found.differences, found.waits, found.waiting) == ((), (), ())
    assert "the order and sizes of the collectives in graphs" in found.compared


def test_a_row_has_the_compile_seconds_of_the_rank_that_took_least_and_of_the_one_that_took_most() -> None:
    ranks = [rank(number, graph(collective("all_reduce"))) for number in range(3)]
    for process, seconds in zip(ranks, (2.0, 1.0, 3.0), strict=True):
        process.compiles.append(compiled(0, seconds))
    (row,) = compare_ranks(of(*ranks)).rows
    assert (row.least_compile_seconds, row.most_compile_seconds) == (1.0, 3.0)
    first = replace(
        ranks[0],
        alike=(EquivalentRank(5, 0.5, None), EquivalentRank(6, None, None), EquivalentRank(7, 9.0, None)),
    )
    (row,) = compare_ranks(of(first, ranks[1])).rows
    assert (row.least_compile_seconds, row.most_compile_seconds) == (0.5, 9.0)


def test_a_frame_that_one_rank_compiled_again_calls_the_same_collectives() -> None:
    first = graph(collective("all_reduce"))
    again = replace(first, number=2, compile_id=CompileId(0, 1))
    assert compare_ranks(of(rank(0, first, again), rank(1, first))).differences[0].subject == "graphs"
    other = replace(graph(collective("all_gather")), number=2, compile_id=CompileId(0, 1))
    subjects = [each.subject for each in compare_ranks(of(rank(0, first, other), rank(1, first))).differences]
    assert subjects[0] == "collectives"


def test_a_collective_of_another_size_is_a_difference_and_its_line_is_the_programs() -> None:
    found = compare_ranks(
        of(*(rank(n, graph(collective("all_reduce", size=16 if n == 2 else 8))) for n in range(3)))
    )
    sides = found.differences[0].sides
    assert [side.ranks for side in sides] == [(0, 1), (2,)]
    assert {side.place for side in sides} == {HERE}


def test_sizes_that_may_be_a_ranks_own_are_none() -> None:
    sized = [rank(n, graph(collective("all_to_all_single", size=8 + n))) for n in range(2)]
    subjects = [difference.subject for difference in compare_ranks(of(*sized)).differences]
    assert "collectives" not in subjects


def with_cache(number: int, outcome: str, folder: str, held_graphs: bool | None) -> Process:
    in_use = CachesInUse(
        folder=folder,
        triton_folder=None,
        held_graphs=held_graphs,
        is_writable=True,
        free_bytes=None,
        filesystem=None,
        in_container=False,
        switches={},
    )
    process = rank(number, environment={"TORCHINDUCTOR_CACHE_DIR": folder, "RANK": str(number)})
    process.caching.in_use.append(in_use)
    process.caching.lookups.append(CacheLookup("fx_graph_cache", outcome, CompileId(0, 0)))
    return process


def test_a_rank_whose_cache_was_empty_is_told_with_the_look_up_that_differs() -> None:
    ranks = [with_cache(n, "hit", f"/cache{n}", True) for n in range(3)]
    (found,) = compare_ranks(of(*ranks, with_cache(3, "miss", "/cache3", False))).differences
    assert found.title == "the 1st look-up in a cache is not the same on all ranks"
    assert [side.what for side in found.sides] == [
        "FX graph cache: hit, for [0/0], in 3 folders",
        "FX graph cache: miss, for [0/0], in /cache3, which held no graph before",
    ]
    assert compare_ranks(of(*ranks)).differences == ()


def test_where_the_caches_are_of_ranks_that_were_not_opened_is_not_told() -> None:
    stands_for_others = replace(with_cache(0, "hit", "/cache0", True), alike=(EquivalentRank(1, None, None),))
    (found,) = compare_ranks(of(stands_for_others, with_cache(2, "miss", "/cache2", False))).differences
    assert [(side.ranks, side.what.partition("[0/0]")[2]) for side in found.sides] == [
        ((0, 1), ""),
        ((2,), ", in /cache2, which held no graph before"),
    ]
    empty = replace(with_cache(0, "miss", "/cache0", False), alike=(EquivalentRank(1, None, None),))
    (found,) = compare_ranks(of(empty, with_cache(2, "hit", "/cache2", True))).differences
    assert [side.what.partition("[0/0]")[2] for side in found.sides] == [
        ", in a cache that held no graph before",
        ", in /cache2",
    ]


def test_where_the_caches_are_is_told_only_of_look_ups_in_them() -> None:
    one, other = with_cache(0, "hit", "/cache0", True), with_cache(1, "miss", "/cache1", False)
    other.caching.lookups.clear()
    (found,) = compare_ranks(of(one, other)).differences
    assert [side.what for side in found.sides] == [
        "FX graph cache: hit, for [0/0], in /cache0",
        "nothing more was recorded",
    ]
    moved = with_cache(1, "miss", "/cache1", False)
    moved.caching.in_use.append(moved.caching.in_use[0])  # the program has changed the folder
    (found,) = compare_ranks(of(one, moved)).differences
    assert all(side.what.endswith("[0/0]") for side in found.sides)


def test_of_one_cache_it_is_not_told_where_it_is_unless_it_was_empty_to_some() -> None:
    def told(*held: bool | None) -> list[str]:
        ranks = [with_cache(n, ("miss", "hit")[n], "/cache", held[n]) for n in range(2)]
        (found,) = compare_ranks(of(*ranks)).differences
        return [side.what.partition("[0/0]")[2] for side in found.sides]

    assert told(True, True) == told(False, False) == ["", ""]
    assert told(False, True) == [", in /cache, which held no graph before", ", in /cache"]
    assert told(None, True) == [", in /cache", ", in /cache"]


def test_ranks_of_other_groups_need_not_agree() -> None:
    pipeline = of(
        rank(0, graph(collective("all_reduce", group="1"))),
        rank(1, graph(collective("all_gather_into_tensor", group="2"))),
    )
    assert [each.subject for each in compare_ranks(pipeline).differences] == ["graphs"]


def test_a_rank_that_goes_on_may_only_be_behind() -> None:
    ahead, behind = rank(0, graph(collective("all_reduce"))), rank(1, ended=False)
    assert compare_ranks(of(ahead, behind)).differences == ()
    assert compare_ranks(of(ahead, rank(1))).differences != ()


def test_no_break_is_no_agreement_where_breaks_are_not_recorded() -> None:
    plain = [Process(Path(f"rank_{n}.log"), n) for n in range(2)]
    versions = [replace(each, torch_version="2.13.0") for each in plain]
    order = "the order of graph breaks"
    assert f"{order} (not recorded of ranks 0 and 1)" in compare_ranks(of(*plain)).not_compared
    assert f"{order} (not recorded of rank 1)" in compare_ranks(of(versions[0], plain[1])).not_compared
    assert order in compare_ranks(of(*versions)).compared
    failed = [
        rank(0),
        replace(rank(1), health=replace(rank(1).health, failed_probes={"graph breaks": "KeyError"})),
    ]
    assert f"{order} (not recorded of rank 1)" in compare_ranks(of(*failed)).not_compared


def test_agreement_is_said_only_as_far_as_all_have_come() -> None:
    one = graph(collective("all_reduce"))
    nothing = compare_ranks(of(rank(0, one), rank(1, ended=False)))
    assert not any("graphs" in text for text in nothing.compared)
    assert (
        "the graphs, with their ops and sizes (rank 1 recorded none, others up to 1)" in nothing.not_compared
    )
    broken = rank(0)
    broken.breaks.append(a_break())
    more = "(rank 1 recorded none, others up to 1; `dynamo breaks` has them)"
    broken_alone = compare_ranks(of(broken, rank(1, ended=False)))
    assert f"the order of graph breaks {more}" in broken_alone.not_compared
    behind = compare_ranks(of(rank(0, one, one), rank(1, one, ended=False)))
    assert "the graphs, with their ops and sizes (the first 1, of up to 2)" in behind.compared


def test_ranks_wait_for_one_that_compiles() -> None:
    waiting = rank(0, graph(collective("all_reduce"), times=running(5)), ended=False)
    compiling = rank(1, ended=False)
    compiling.compiling.append(Compiling(CompileId(4, 1), "step", HERE, 3, False))
    found = compare_ranks(of(waiting, compiling))
    assert found.waiting == ("rank 0 waits in collectives for rank 1, still compiling",)
    assert [wait.since_ns for wait in found.waits] == [5, 3]


def test_ranks_wait_for_those_that_are_nowhere() -> None:
    waiting = rank(0, graph(collective("all_reduce"), times=running(5)), ended=False)
    found = compare_ranks(of(waiting, rank(1, ended=False), rank(2, ended=False)))
    assert found.waiting == (
        "rank 0 waits in collectives; ranks 1 and 2 were killed, or are in no graph and no compile",
    )
    assert compare_ranks(of(waiting, rank(1, ended=False))).waiting == (
        "rank 0 waits in collectives; rank 1 was killed, or is in no graph and no compile",
    )


def _after_an_error(*, is_over: bool, raised: int = 1, inside: bool = False) -> tuple[str, ...]:
    """What is said where a call of ranks 0 and 1 ended in an error, and rank 2 has no last record."""
    met = [graph(collective("all_reduce"), times=called(4, raised=raised)) for _ in range(2)]
    lost = graph(collective("all_reduce"), times=called(3, since_ns=9 if inside else None))
    recording = of(rank(0, met[0]), rank(1, met[1], ended=False), rank(2, lost, ended=False))
    return compare_ranks(replace(recording, run=Run(ended_ns=10) if is_over else None)).waiting


def test_a_rank_that_died_is_named_before_those_whose_collectives_failed_for_it() -> None:
    assert _after_an_error(is_over=True) == (
        f"a call of graph 1 (all_reduce of float32[8] at {HERE}) ended in an error on ranks 0 and 1; rank 2 "
        "was in no such call, and was killed or called os._exit",
    )
    assert "rank 2 was killed, or called os._exit, inside of graph 1" in _after_an_error(
        is_over=True, inside=True
    )[0]  # fmt: skip


def test_an_exception_is_named_before_those_that_came_of_it_in_collectives() -> None:
    follows = rank(0, graph(collective("all_reduce"), times=called(4, raised=1)))
    first = rank(1, graph(collective("all_reduce"), times=called(3)))
    for process, line in ((follows, 12), (first, 9)):
        process.runtime.end = ProcessEnd(
            raised="RuntimeError", raised_file=HERE.file, raised_line=line, raised_in="main"
        )
    assert compare_ranks(of(follows, first)).waiting == (
        f"rank 1 ended in an exception, RuntimeError at {HERE.file}:9 in main",
        f"a call of graph 1 (all_reduce of float32[8] at {HERE}) ended in an error on rank 0",
        f"rank 0 ended in an exception, RuntimeError at {HERE.file}:12 in main",
    )
    assert compare_ranks(of(follows, rank(1))).waiting == (
        f"rank 0 ended in an exception, RuntimeError at {HERE.file}:12 in main",
    )


def test_a_call_that_failed_is_told_once() -> None:
    """Beside a rank that was killed, too."""
    failed, raised = rank(0, graph(collective("all_reduce"), times=called(4, raised=1))), rank(1)
    for process in (failed, raised):
        process.runtime.end = ProcessEnd(raised="RuntimeError")
    recording = replace(of(failed, raised, rank(2, ended=False)), run=Run(ended_ns=10))
    said = compare_ranks(recording).waiting
    assert said[0] == "rank 1 ended in an exception, RuntimeError"  # then torchrun kills what is left
    assert "rank 2 was in no such call, and was killed" in said[1]
    assert sum("ended in an error on rank 0" in each for each in said) == 1


def test_who_was_lost_is_not_said_while_the_job_goes_on_or_where_nothing_failed() -> None:
    assert not any("ended in an error" in each for each in _after_an_error(is_over=False))
    assert not any("ended in an error" in each for each in _after_an_error(is_over=True, raised=0))


def _that_recompiled(*, others_came: int, reason: str = "size") -> list[Difference]:
    """What differs where rank 1 recompiled before its second call, of ranks that have not ended."""
    behind = graph(collective("all_reduce"), times=called(others_came))
    ahead = rank(1, graph(collective("all_reduce"), times=called(1, since_ns=9 * 10**9)), ended=False)
    compile_id = CompileId(7, 1)
    ahead.frames.append(
        Frame("local", HERE, "compiled", None, True, False, compile_id, ended_ns=8 * 10**9, seconds=1.0)
    )
    ahead.compiles.append(
        Compile(compile_id, "local", HERE, 1.0, True, None, None, reason, None, None, {}, None, None)
    )
    return list(compare_ranks(of(rank(0, behind, ended=False), ahead)).differences)


def test_a_rank_that_came_to_what_lies_behind_a_recompile_and_did_not_make_it_is_not_behind() -> None:
    assert [each.subject for each in _that_recompiled(others_came=2)] == ["recompiles"]
    assert _that_recompiled(others_came=1) == []


def test_a_recompile_is_named_by_the_guard_that_failed_without_the_comment_of_torch() -> None:
    reason = "4/0: kind == 'usual'    # if kind == 'rare':  # /work/train.py:19 in forward"
    (difference,) = _that_recompiled(others_came=2, reason=reason)
    assert "local was recompiled, as this did not hold: kind == 'usual'" in [
        side.what for side in difference.sides
    ]


def test_a_break_that_a_recompile_meets_again_follows_from_it() -> None:
    def subjects(*breaks: GraphBreak) -> list[str]:
        usual = replace(rank(0), breaks=[a_break()])
        other = replace(rank(1), breaks=[a_break(), *breaks], compiles=[recompile(1)])
        return [each.subject for each in compare_ranks(of(usual, other)).differences]

    again = replace(a_break(), compile_id=CompileId(0, 1))
    assert subjects(again) == ["recompiles", "graph breaks"]
    assert subjects(a_break(9)) == ["graph breaks", "recompiles"]


def test_a_first_compile_that_differs_follows_from_no_recompile() -> None:
    def subjects(compile_id: CompileId, *breaks: GraphBreak) -> list[str]:
        ops = [replace(collective("all_reduce"), name=op, target=op) for op in ("sin", "cos")]
        graphs = [replace(graph(op), compile_id=compile_id) for op in ops]
        usual = rank(0, graphs[0])
        other = replace(rank(1, graphs[1]), breaks=[*breaks], compiles=[recompile(1)])
        return [each.subject for each in compare_ranks(of(usual, other)).differences]

    assert subjects(CompileId(0, 0)) == ["graphs", "recompiles"]
    assert subjects(CompileId(0, 1)) == ["recompiles", "graphs"]
    assert subjects(CompileId(0, 0), a_break()) == ["graph breaks", "recompiles", "graphs"]


def test_ranks_that_hang_outside_of_graphs_are_no_all_clear() -> None:
    found = compare_ranks(of(rank(0, ended=False), rank(1, ended=False)))
    assert found.differences == ()
    assert found.waiting[0].startswith("ranks 0 and 1 were in no compiled graph and no compile")


def test_an_environment_variable_of_one_rank_is_named_before_what_it_leads_to() -> None:
    variables = [{"TORCHINDUCTOR_FREEZING": "1", "RANK": "1"}, {"RANK": "0"}]
    ranks = [rank(n, graph(), environment=variable) for n, variable in enumerate(variables)]
    first, *_ = compare_ranks(of(*ranks)).differences
    assert first.title == "TORCHINDUCTOR_FREEZING is not the same on all ranks"
    assert [(side.ranks, side.what) for side in first.sides] == [((0,), "1"), ((1,), "not set")]


def test_forked_workers_of_a_rank_are_not_it() -> None:
    worker = rank(0, forked=True)
    assert [row.ranks for row in compare_ranks(of(rank(0), worker, rank(1))).rows] == [(0, 1)]


def test_ranks_that_recorded_nothing_are_named() -> None:
    def of_world(size: str, *numbers: int) -> tuple[str, ...]:
        return compare_ranks(of(*(rank(n, environment={"WORLD_SIZE": size}) for n in numbers))).left_out

    assert of_world("4", 0, 1, 2, 3) == ()
    assert of_world("8", 0, 1, 5) == ("ranks 2-4, 6 and 7 of 8, which recorded nothing here",)
    assert of_world("eight", 0, 1) == of_world("99999999999", 0, 1) == ()
    assert compare_ranks(of(rank(0), rank(3))).left_out == ()


def test_a_graph_with_more_inputs_on_one_rank_is_told_by_their_number() -> None:
    """There an input of one rank stands beside an op of the other: neither is named for the other."""
    given = replace(collective("all_reduce"), op="placeholder", target="weight")
    found = compare_ranks(
        of(rank(0, graph(given, collective("all_reduce"))), rank(1, graph(collective("all_reduce"))))
    )
    titles = [each.title for each in found.differences]
    assert "the number of inputs of graph 1 is not the same on all ranks" in titles
