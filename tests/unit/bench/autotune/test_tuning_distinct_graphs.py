"""Which graphs of a recording are measured once, and what is known of all that compute the same."""

from dataclasses import replace
from pathlib import Path

import pytest

from dynamo_core.bench.autotune.tuning import distinct_graphs
from dynamo_core.model import CompileId, Graph, Node, Place, Process, Recording
from support.made import of_one_process


def graph(number: int, key: str | None, calls: int | None, backend: str = "inductor") -> Graph:
    nodes = (Node("placeholder", "x", "x", "", "", place=Place("/home/me/train.py", 3)),)
    return Graph(
        number,
        CompileId(0, number),
        0,
        None,
        backend,
        1,
        key=key,
        nodes=nodes,
        is_compiled=True,
        calls=calls,
    )


def test_graphs_that_compute_the_same_are_one_in_the_order_of_the_first() -> None:
    one = of_one_process(graphs=[graph(1, "b", 2), graph(2, "a", 3), graph(3, "b", 4)])
    two = replace(one, processes=[*one.processes, Process(Path("other.log"), graphs=[graph(1, "a", 5)])])
    found = distinct_graphs(two)
    assert [[each.number for _, each in distinct.members] for distinct in found] == [[1, 3], [2, 1]]
    assert [distinct.calls for distinct in found] == [6, 8]
    assert [distinct.first.number for distinct in found] == [1, 2]


def test_graphs_without_a_key_are_each_their_own_and_cannot_be_measured() -> None:
    first, second = distinct_graphs(of_one_process(graphs=[graph(1, None, 1), graph(2, None, 1)]))
    assert (first.first.number, second.first.number) == (1, 2)
    assert first.to_tune.program is None and "without a key" in str(first.to_tune.problem)


def test_a_graph_that_was_never_compiled_is_none() -> None:
    assert distinct_graphs(of_one_process(graphs=[replace(graph(1, "a", 1), is_compiled=False)])) == []


@pytest.mark.parametrize(
    ("calls", "backends", "known"),
    [
        ((2, 3), ("inductor", "inductor"), (5, "inductor")),
        ((2, None), ("inductor", "eager"), (None, None)),
    ],
)
def test_what_is_not_known_of_each_is_not_known_of_all(
    calls: tuple[int | None, ...], backends: tuple[str, ...], known: tuple[int | None, str | None]
) -> None:
    graphs = [graph(n, "a", *each) for n, each in enumerate(zip(calls, backends, strict=True), 1)]
    (found,) = distinct_graphs(Recording(Path("r"), None, [Process(Path("s.log"), graphs=graphs)], 1, []))
    assert (found.calls, found.backend) == known
