"""Outputs from which others are computed: which are remembered, and what gradients they end up with."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from dynamo_core.capture.eager_semantics.inner_outputs import (
    complete_retained_gradients,
    note_inner_outputs,
    wants_inner_gradients,
)


def output(grad: float | None = None, *, retains: bool = True) -> torch.Tensor:
    """A tensor that autograd made."""
    made = torch.ones(1, requires_grad=True) * 1
    if retains:
        made.retain_grad()
    if grad is not None:
        made.grad = torch.tensor([grad])
    return made


def call(*outputs: torch.Tensor | None, hooks: tuple[Any, ...] = ()) -> Any:
    inner = [(position, lambda each=each: each) for position, each in enumerate(outputs)]
    return SimpleNamespace(inner=inner, hooks=list(hooks))


def test_an_output_is_remembered_if_its_gradient_comes_to_the_node_and_not_by_way_of_its_base() -> None:
    outputs = [output() for _ in range(4)]
    function = SimpleNamespace(positions={0: 5, 1: 6, 3: 8}, through_base={1})
    facts = SimpleNamespace(inner=[0, 1, 2])
    made: Any = SimpleNamespace(graph=SimpleNamespace(function=function, facts=facts), inner=[])
    note_inner_outputs(made, outputs)
    ((position, reference),) = made.inner
    assert position == 5 and reference() is outputs[0]


def test_the_program_asks_inside_by_a_hook_or_by_a_gradient_that_is_retained() -> None:
    assert wants_inner_gradients(call(output(retains=False), output()))
    assert wants_inner_gradients(call(output(retains=False), hooks=((0, {}),)))
    assert not wants_inner_gradients(call(output(retains=False), None))


@pytest.mark.parametrize(
    ("had", "given", "gradient", "has"),
    [
        (None, None, 3.0, 3.0),
        (2.0, 2.0, 3.0, 3.0),  # what came from outside is in the whole gradient
        (5.0, 2.0, 3.0, 6.0),  # and of a second backward no more than the rest is added
        (5.0, None, 3.0, 8.0),
        (5.0, 2.0, None, 5.0),
    ],
)
def test_a_gradient_that_is_retained_is_made_whole(
    had: float | None, given: float | None, gradient: float | None, has: float
) -> None:
    def tensor(value: float | None) -> torch.Tensor | None:
        return None if value is None else torch.tensor([value])

    inner = output(had)
    complete_retained_gradients(call(inner), [tensor(given)], [tensor(gradient)])
    assert inner.grad is not None and inner.grad.item() == has


def test_outputs_that_retain_nothing_or_are_gone_are_left_alone() -> None:
    left, kept = output(retains=False), output()
    gradients = [torch.tensor([float(number)]) for number in range(3)]
    complete_retained_gradients(call(left, None, kept), gradients, gradients)
    assert kept.grad is not None and kept.grad.item() == 2.0
    assert not left.retains_grad
