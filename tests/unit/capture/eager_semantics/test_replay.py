"""How the backward of a graph's autograd node is taken over, in each of torch's ways of calling it."""

from typing import Any

import pytest
import torch

from dynamo_core.capture.eager_semantics.replay import AotFunction


def node_of_a_new_class(**more: object) -> tuple[Any, list[Any]]:
    """A node whose class has a backward like torch's, and what that was called with."""
    seen: list[Any] = []

    def backward(node: Any, *gradients: Any) -> str:
        seen.append(gradients)
        return "torch's"

    function_class = type("Function", (), {"backward": staticmethod(backward), **more})
    return type("Node", (), {"_forward_cls": function_class})(), seen


GRADIENTS = [torch.ones(1), torch.ones(2)]


@pytest.mark.parametrize(("more", "is_boxed"), [({}, False), ({"boxed_grads_call": True}, True)])
def test_a_call_that_was_not_noted_is_torchs_own_as_torch_makes_it(
    more: dict[str, object], is_boxed: bool
) -> None:
    node, seen = node_of_a_new_class(**more)
    function = AotFunction(node, [])
    function.replace_backward(lambda *_: "ours")
    given: tuple[Any, ...] = (list(GRADIENTS),) if is_boxed else tuple(GRADIENTS)
    assert type(node)._forward_cls.backward(node, *given) == "torch's"
    (called_with,) = seen
    assert len(called_with) == (1 if is_boxed else 2)
    assert [each.numel() for each in (called_with[0] if is_boxed else called_with)] == [1, 2]


def test_a_call_that_was_noted_is_answered_with_its_gradients_in_a_list() -> None:
    node, seen = node_of_a_new_class()
    AotFunction(node, []).replace_backward(lambda node, call, given: (call, len(given)))
    node.dynamo_call = "call"
    assert type(node)._forward_cls.backward(node, *GRADIENTS) == ("call", 2)
    assert seen == []


def test_a_node_is_of_the_function_if_its_class_is_and_no_other() -> None:
    node, _ = node_of_a_new_class()
    other, _ = node_of_a_new_class()
    function = AotFunction(node, [])
    assert function.owns(type(node)()) and not function.owns(other)


class Output:
    """What is looked at of a tensor."""

    _base = None

    def __init__(self, node: Any, number: int) -> None:
        self.grad_fn, self.output_nr = node, number


def test_outputs_are_told_by_their_place_at_the_node_and_those_of_other_nodes_are_left_out() -> None:
    node, _ = node_of_a_new_class()
    other, _ = node_of_a_new_class()
    outputs = [Output(node, 1), Output(None, 0), Output(node, 0), Output(other, 3), 5]
    assert AotFunction(node, outputs).positions == {0: 1, 2: 0}


def test_a_gradient_that_is_missing_is_zeros_for_torch_and_none_for_who_answers() -> None:
    node, seen = node_of_a_new_class()
    node._input_metadata = [None, torch.ones(2, 3, dtype=torch.float64)]
    function = AotFunction(node, [])
    function.replace_backward(lambda node, call, given: given)
    assert type(node)._forward_cls.backward(node, GRADIENTS[0], None) == "torch's"
    ((first, second),) = seen
    assert first is GRADIENTS[0]
    assert (second.shape, second.dtype, second.sum().item()) == ((2, 3), torch.float64, 0.0)
    node.dynamo_call = "call"
    assert type(node)._forward_cls.backward(node, None) == [None]
