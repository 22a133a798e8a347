"""The operation up to which a backend has to compile a call for it to be wrong."""

from collections.abc import Callable
from typing import Any

import torch

from dynamo_core.capture.interventions.wrong_beginning import (
    Place,
    beginning_backend,
    last_of_beginning,
)


def step(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    y = x * scale
    y = y + 1
    y.mul_(2)
    return y.sum()


FIRST = step.__code__.co_firstlineno + 1


def without_writes(gm: Any, _: Any) -> Callable[..., Any]:
    for node in reversed(gm.graph.nodes):
        if node.target == "mul_":
            node.replace_all_uses_with(node.args[0])
            gm.graph.erase_node(node)
    gm.recompile()
    forward: Callable[..., Any] = gm.forward
    return forward


def without_a_tuple(gm: Any, inputs: Any) -> Callable[..., Any]:
    """Wrong as the other, and it gives a single result without a tuple."""
    forward = without_writes(gm, inputs)
    (*_, output) = gm.graph.nodes
    return (lambda *given: forward(*given)[0]) if len(output.args[0]) == 1 else forward


def compiled(count: int, operations: list[Place], wrong: Callable[..., Any] = without_writes) -> float:
    torch._dynamo.reset()
    backend = beginning_backend(wrong, count, operations)
    return float(torch.compile(step, backend=backend)(torch.ones(3), torch.tensor(3.0)))


def test_the_operations_of_a_call_with_their_lines() -> None:
    operations: list[Place] = []
    assert compiled(0, operations) == float(step(torch.ones(3), torch.tensor(3.0)))
    assert [(file, line) for file, line, _ in operations] == [(__file__, FIRST + i) for i in range(4)]


def test_a_beginning_is_compiled_and_the_rest_runs_in_eager() -> None:
    right = float(step(torch.ones(3), torch.tensor(3.0)))
    assert [compiled(count, []) == right for count in range(5)] == [True, True, True, False, False]


def test_a_result_that_is_in_no_tuple_is_not_taken_for_a_wrong_number() -> None:
    right = float(step(torch.ones(3), torch.tensor(3.0)))
    found = [compiled(count, [], without_a_tuple) == right for count in range(5)]
    assert found == [True, True, True, False, False]


def test_the_last_operation_of_the_shortest_wrong_beginning() -> None:
    places = [("f.py", line, "add") for line in range(1, 8)]
    for wrong in range(1, 8):
        assert last_of_beginning(places, lambda count, least=wrong: count >= least) == places[wrong - 1]  # type: ignore[misc]
    assert last_of_beginning(places, lambda _: False) is None
    assert last_of_beginning([], lambda _: False) is None
