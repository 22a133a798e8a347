"""What ranks are compared by: their collectives by group, their graphs without what is a rank's own."""

from pathlib import Path

from dynamo_core.analysis.ranks import compare_ranks
from dynamo_core.analysis.ranks.members import named
from dynamo_core.model import (
    CallTimes,
    CompileId,
    Compiling,
    Graph,
    Node,
    Place,
    Process,
    ProcessEnd,
    ProcessInfo,
    Recording,
    TensorInfo,
)

HERE = Place("/home/user/train.py", 7)
LIBRARY = Place("/usr/lib/python3.11/site-packages/torch/distributed/_functional_collectives.py", 179)


def collective(name: str, *, size: int = 8, group: str = "0", line: int = 7) -> Node:
    return Node(
        op="call_function",
        name=name,
        target=f"torch.ops._c10d_functional.{name}",
        args=f"(x, 'sum', '{group}')",
        kwargs="{}",
        tensors=(TensorInfo((size,), None, "torch.float32", "cpu"),),
        place=LIBRARY,
        called_from=Place(HERE.file, line),
    )


def graph(*nodes: Node, **fields: object) -> Graph:
    return Graph(
        number=1, compile_id=CompileId(0, 0), attempt=0, name=None, backend="eager", ops=len(nodes),
        nodes=nodes,
        frame_name="step", frame_place=HERE, is_compiled=True, **fields,  # type: ignore[arg-type]
    )  # fmt: skip


def rank(number: int, *graphs: Graph, ended: bool = True, **fields: object) -> Process:
    return Process(
        Path(f"rank_{number}"), number, ProcessInfo(pid=number + 1, **fields),  # type: ignore[arg-type]
        torch_version="2.13.0", graphs=list(graphs), end=ProcessEnd() if ended else None,
    )  # fmt: skip


def of(*processes: Process) -> Recording:
    return Recording(Path("r"), None, list(processes), len(processes), [])


def running(since_ns: int) -> CallTimes:
    return CallTimes(0, 0.0, {}, (), (), None, running_since_ns=since_ns)


def test_ranks_are_named_in_runs() -> None:
    assert named([3]) == "rank 3"
    assert named([4, 0, 1, 2]) == "ranks 0-2 and 4"
    assert named([0, 1, 5]) == "ranks 0, 1 and 5"


def test_ranks_that_do_the_same_are_one_row_without_a_difference() -> None:
    found = compare_ranks(of(*(rank(n, graph(collective("all_reduce"))) for n in range(8))))
    assert [row.ranks for row in found.rows] == [tuple(range(8))]
    assert (found.differences, found.waits, found.waiting) == ((), (), ())
    assert "the order and sizes of the collectives in graphs" in found.compared


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


def test_agreement_is_said_only_as_far_as_all_have_come() -> None:
    one = graph(collective("all_reduce"))
    nothing = compare_ranks(of(rank(0, one), rank(1, ended=False)))
    assert not any("graphs" in text for text in nothing.compared)
    assert (
        "the graphs, with their ops and sizes (rank 1 recorded none, others up to 1)" in nothing.not_compared
    )
    behind = compare_ranks(of(rank(0, one, one), rank(1, one, ended=False)))
    assert "the graphs, with their ops and sizes (the first 1, of up to 2)" in behind.compared


def test_ranks_wait_for_one_that_compiles() -> None:
    waiting = rank(0, graph(collective("all_reduce"), times=running(5)), ended=False)
    compiling = rank(1, ended=False)
    compiling.compiling.append(Compiling(CompileId(4, 1), "step", HERE, 3, False))
    found = compare_ranks(of(waiting, compiling))
    assert found.waiting == ("rank 0 waits in collectives for rank 1, still compiling",)
    assert [wait.since_ns for wait in found.waits] == [5, 3]


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
