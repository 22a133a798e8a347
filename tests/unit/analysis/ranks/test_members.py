"""What a rank is in the middle of, ranks that did the same, and what of a graph all ranks have in common."""

from dataclasses import replace
from typing import Any

import pytest

from dynamo_core.analysis.ranks.collectives import collectives_of, place_in_program, tensors_in_words
from dynamo_core.analysis.ranks.members import Side, Step, inside_of, ordinal, ranks_of, sides
from dynamo_core.model import CompileId, Compiling, Place, ProcessEnd, TensorInfo
from dynamo_core.shared.graph_key import CollectiveCall, collective_call, order_of_graph
from support.ranks_by_hand import HERE, LIBRARY, called, collective, graph, of, rank, running


def compiling(began_ns: int, backend_ns: int | None = None) -> Compiling:
    return Compiling(CompileId(1, 0), "f", HERE, began_ns, backend_ns=backend_ns)


def test_a_rank_is_inside_of_what_began_last() -> None:
    process = rank(0, graph(times=running(5)), graph(backward=running(7)), ended=False)
    inside = inside_of(process)
    assert inside is not None and (inside.since_ns, inside.is_backward) == (7, True)
    process.compiling = [compiling(6), compiling(2, backend_ns=9)]
    inside = inside_of(process)
    assert inside is not None and (inside.since_ns, inside.compiling) == (9, process.compiling[1])
    process.compiling = [compiling(6)]
    inside = inside_of(process)
    assert inside is not None and inside.graph is process.graphs[1]


def test_a_rank_whose_program_ended_or_that_is_in_no_call_is_inside_of_nothing() -> None:
    assert (
        inside_of(
            replace(
                rank(0, graph(times=running(5)), ended=False),
                runtime=replace(rank(0, graph(times=running(5)), ended=False).runtime, end=ProcessEnd()),
            )
        )
        is None
    )
    assert inside_of(rank(0, graph(times=called(3)), graph(), ended=False)) is None


def test_ranks_are_in_their_order_whatever_that_of_their_streams() -> None:
    assert list(ranks_of(of(rank(2), rank(0), rank(1)))) == [0, 1, 2]


@pytest.mark.parametrize(
    ("at", "word"),
    [
        *[(0, "1st"), (1, "2nd"), (2, "3rd"), (3, "4th"), (10, "11th"), (11, "12th"), (12, "13th")],
        *[(20, "21st"), (110, "111th"), (111, "112th"), (112, "113th"), (120, "121st"), (121, "122nd")],
    ],
)
def test_an_index_is_counted_from_one(at: int, word: str) -> None:
    assert ordinal(at) == word


def test_ranks_that_did_the_same_are_one_side_and_most_ranks_come_first() -> None:
    one, other, third = Step("a", "A", HERE, 1), Step("b", "B"), Step("c", "C")
    found = sides({0: other, 1: one, 2: third, 3: replace(one, what="later"), 4: replace(one, graph=9)})
    assert found == (Side((1, 3, 4), "A", HERE, 1), Side((0,), "B"), Side((2,), "C"))


@pytest.mark.parametrize(
    ("target", "args", "call"),
    [
        (
            "torch.ops._c10d_functional.all_reduce.default",
            "(x, 'sum', '0')",
            CollectiveCall("all_reduce", ("'sum'",), "0"),
        ),
        (
            "torch.ops._c10d_functional.all_reduce_",
            "(x, 'sum', '0')",
            CollectiveCall("all_reduce", ("'sum'",), "0"),
        ),
        ("torch.ops._c10d_functional_autograd.x", "(x, 2, '7')", CollectiveCall("x", ("2",), "7")),
        ("torch.ops.c10d_functional.x", "(x)", CollectiveCall("x", (), "")),
        ("torch.ops._c10d_functional.wait_tensor", "(x)", None),
        ("torch.ops.aten.add", "(x, y)", None),
    ],
)
def test_a_collective_is_known_by_its_namespace(target: str, args: str, call: CollectiveCall | None) -> None:
    assert collective_call(target, args) == call


def test_sizes_of_what_each_rank_gives_are_not_part_of_what_has_to_be_the_same() -> None:
    def key(name: str, size: int) -> object:
        (found,) = collectives_of(graph(collective(name, size=size))) or []
        return found.key

    assert key("all_reduce", 8) != key("all_reduce", 9)
    assert key("all_to_all_single", 8) == key("all_to_all_single", 9)
    assert collectives_of(replace(graph(), nodes=None)) is None
    assert collectives_of(graph()) == []


def test_a_collective_says_its_tensors_and_where_they_are() -> None:
    node = collective("all_reduce", size=4)
    two = TensorInfo((2, 3), None, "torch.bfloat16", "cuda:1")
    both = replace(node, tensors=(*node.tensors, two))
    assert tensors_in_words(both) == "float32[4], bfloat16[2, 3]"
    (found,) = collectives_of(graph(both)) or []
    assert found.devices == {"cpu", "cuda"}
    assert str(found) == "all_reduce of float32[4], bfloat16[2, 3]"
    (bare,) = collectives_of(graph(replace(node, tensors=()))) or []
    assert str(bare) == "all_reduce"


def test_the_line_of_a_node_is_the_programs_own_or_that_of_the_nearest_node_before() -> None:
    near, far = Place("/home/user/train.py", 3), Place("/home/user/train.py", 1)
    node = replace(collective("all_reduce"), called_from=None)
    before = [replace(node, place=place) for place in (far, near, None, LIBRARY)]
    assert place_in_program([*before, node], 4) == near
    assert place_in_program([node], 0) == LIBRARY
    assert place_in_program([replace(node, place=far)], 0) == far
    assert place_in_program([replace(node, place=None), node], 0) is None
    assert place_in_program([replace(node, called_from=HERE)], 0) == HERE


def recorded(target: str = "aten.add", op: str = "call_function", **more: Any) -> dict[str, Any]:
    return {"op": op, "target": target, "args": "(x, 'sum', '0')", "dtype": "f", "shape": [2], **more}


REDUCE = "torch.ops._c10d_functional.all_reduce"


def test_the_order_of_a_graph_is_of_its_operators_and_sizes_and_not_of_names_or_constants() -> None:
    def ops(*nodes: dict[str, Any]) -> str:
        return order_of_graph(nodes).ops

    assert ops(recorded()) == ops(recorded(args="(y, 3)", device="cuda:1", name="b"))
    assert ops(recorded("w", "placeholder")) == ops(recorded("v", "placeholder"))
    assert ops(recorded()) != ops(recorded("aten.mul"))
    assert ops(recorded()) != ops(recorded(shape=[3]))
    assert ops(recorded()) != ops(recorded(dtype="g"))
    nested = {"op": "call_function", "target": "a", "args": "()", "values": [{"values": [recorded()]}]}
    assert ops(nested) != ops({**nested, "values": []})


def test_the_order_of_a_graph_has_its_collectives_with_what_has_to_be_the_same() -> None:
    def collectives(*nodes: dict[str, Any]) -> list[list[str]]:
        return order_of_graph(nodes).collectives

    ((group, same),) = collectives(recorded(), recorded(REDUCE), recorded("x.wait_tensor"))
    assert group == "0"
    assert [["0", same]] == collectives(recorded(REDUCE))
    assert [["0", same]] != collectives(recorded(REDUCE, shape=[3]))
    assert [["0", same]] != collectives(recorded(REDUCE, args="(x, 'avg', '0')"))
    own = "torch.ops._c10d_functional.all_to_all_single"
    assert collectives(recorded(own)) == collectives(recorded(own, shape=[3]))
