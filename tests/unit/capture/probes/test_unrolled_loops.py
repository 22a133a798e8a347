"""Which loop a large graph comes from, by the stack traces that Dynamo keeps with its nodes."""

import linecache
import textwrap
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from dynamo_core.capture.probes.unrolled_loops import unrolled_loop

FILE = "/home/me/net.py"
LIBRARY = "/v/lib/python3.11/site-packages/lib/model.py"
SOURCE = """\
class Net:
    def forward(
        self,
        x,
    ):
        x = x + 1
        for layer in self.layers:
            # a comment
            if layer:
                x = layer(
                    x,
                )
        return x

    def sums(self, x):
        return sum(f(x) for f in self.fs)
"""


@pytest.fixture(autouse=True)
def files() -> Iterator[None]:
    lines = textwrap.dedent(SOURCE).splitlines(keepends=True)
    for file in (FILE, LIBRARY):
        linecache.cache[file] = (len(SOURCE), None, lines, file)
    yield
    for file in (FILE, LIBRARY):
        del linecache.cache[file]


def nodes(times: int, *stack: tuple[str, int], target: str = "add") -> list[Any]:
    trace = "".join(f'  File "{file}", line {line}, in f\n    text\n' for file, line in stack)
    return [SimpleNamespace(op="call_function", target=target, meta={"stack_trace": trace})] * times


def test_a_loop_is_named_by_its_first_line() -> None:
    body = [(FILE, 11), ("/home/me/block.py", 3)]
    found = unrolled_loop([*nodes(2, (FILE, 6)), *nodes(60, *body), *nodes(60, *body, target="relu")])
    assert found == {
        "file": FILE,
        "line": 7,
        "text": "for layer in self.layers:",
        "ops": 120,
        "times": 60,
        "is_loop": True,
        "called_from": None,
    }


def test_a_loop_inside_of_a_line_counts_each_op_once() -> None:
    found = unrolled_loop(nodes(100, (FILE, 16), (FILE, 16)))
    assert found is not None
    assert (found["line"], found["ops"], found["times"]) == (16, 100, 100)


def test_what_one_of_torchs_loops_calls_is_a_function() -> None:
    found = unrolled_loop([*nodes(60, (FILE, 6)), *nodes(60, (FILE, 13), target="relu")])
    assert found is not None
    assert (found["line"], found["text"], found["is_loop"], found["ops"]) == (2, "def forward(", False, 120)


def test_a_loop_in_a_library_has_the_programs_line() -> None:
    found = unrolled_loop(nodes(100, (FILE, 6), (LIBRARY, 11)))
    assert found is not None
    assert (found["file"], found["line"], found["called_from"]) == (LIBRARY, 7, (FILE, 6))


@pytest.mark.parametrize(
    "graph",
    [
        [],
        nodes(99, (FILE, 11)),
        [node for number in range(200) for node in nodes(1, (FILE, 6), target=f"op{number}")],
        [node for number in range(100) for node in nodes(7, (FILE, 11), target=f"op{number}")],
        [*nodes(100, (FILE, 11)), *nodes(1, (FILE, 11), target="higher_order.invoke_subgraph")],
        nodes(200),
    ],
    ids=["empty", "small", "once each", "too few times", "compiled once already", "no lines"],
)
def test_what_is_no_unrolled_loop(graph: list[Any]) -> None:
    assert unrolled_loop(graph) is None


def test_what_a_loop_does_over_a_function_of_its_own_is_the_same_op_from_wherever_it_is_called() -> None:
    """Two lines of the loop call the same line of a block: that op is there once for each of them."""
    other, block = (FILE, 11), ("/home/me/block.py", 3)
    found = unrolled_loop([*nodes(60, (FILE, 10), block), *nodes(60, other, block)])
    assert found is not None and (found["line"], found["ops"], found["times"]) == (7, 120, 120)


@pytest.mark.parametrize(("share", "is_found"), [(60, True), (59, False)])
def test_a_loop_is_named_only_where_half_of_a_large_graph_comes_from_it(share: int, is_found: bool) -> None:
    others = [each for at in range(120 - share) for each in nodes(1, ("/home/me/long.py", at + 1))]
    assert (unrolled_loop([*others, *nodes(share, (FILE, 11))]) is not None) is is_found
