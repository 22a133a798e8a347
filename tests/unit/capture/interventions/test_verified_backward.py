"""The program's own backwards of a call are noted, and handed over when they are over."""

import threading
from collections.abc import Sequence
from typing import Any

import pytest
import torch

from dynamo_core.capture.interventions.verified_backward import WaitingCalls


class Call:
    """A waiting call that notes what is asked of it."""

    def __init__(self) -> None:
        self.compared: list[list[dict[str, Any]]] = []
        self.is_finished = False

    def changed_since(self) -> str | None:
        return None

    def compare_backward(self, passes: Sequence[dict[str, Any]]) -> bool:
        self.compared.append(list(passes))
        return True

    def finish(self) -> None:
        self.is_finished = True


def waiting_for(*outputs: torch.Tensor) -> tuple[WaitingCalls, Call]:
    calls, call = WaitingCalls(lambda function: function), Call()
    calls.add(call, [(f"result[{i}]", output) for i, output in enumerate(outputs)])
    return calls, call


def leaf() -> torch.Tensor:
    return torch.ones(2, requires_grad=True)


def test_what_flows_into_each_output_is_noted_and_nothing_of_the_others() -> None:
    x = leaf()
    first, second = (x * 2).unbind()
    _, call = waiting_for(first, second)
    (second * 3).backward()
    ((only,),) = call.compared
    assert {path: seed.tolist() for path, seed in only["seeds"].items()} == {"result[1]": 3.0}
    assert (only["keeps_graph"], only["creates_graph"], only["is_of_gradients"]) == (False, False, False)


def test_an_output_that_was_written_after_the_call_is_noted() -> None:
    first, second = leaf() * 2, leaf() * 3
    _, call = waiting_for(first, second)
    with torch.no_grad():
        second.zero_()
    (first + second).sum().backward()
    assert call.compared[-1][0]["written"] == ["result[1]"]


def test_an_output_whose_gradient_the_program_keeps_or_looks_at_is_noted() -> None:
    unseen, kept, seen = leaf() * 2, leaf() * 3, leaf() * 4
    _, call = waiting_for(unseen, kept, seen)
    kept.retain_grad()
    seen.register_hook(lambda _: None)
    (unseen + kept + seen).sum().backward()
    assert call.compared[-1][0]["kept"] == ["result[1]", "result[2]"]


def test_a_second_backward_is_a_further_pass() -> None:
    y = leaf() + 1
    _, call = waiting_for(y)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert [each["keeps_graph"] for each in call.compared[-1]] == [True, False]


def test_gradients_of_gradients_are_a_further_pass() -> None:
    x = leaf()
    y = x * x
    _, call = waiting_for(y)
    (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    slope.sum().backward()
    first, second, *_ = call.compared[-1]
    assert (first["creates_graph"], second["is_of_gradients"]) == (True, True)


def test_a_backward_that_raised_is_handed_over_at_the_next_look() -> None:
    y = leaf().exp()
    calls, call = waiting_for(y)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="a second time"):
        y.sum().backward()
    assert len(call.compared) == 1
    calls.look()
    assert len(call.compared[-1]) == 2


def test_another_threads_look_does_not_end_a_backward_that_runs() -> None:
    y = leaf().exp()
    calls, call = waiting_for(y)
    seen = []

    def look(gradient: torch.Tensor) -> None:
        thread = threading.Thread(target=calls.look)
        thread.start()
        thread.join()
        seen.append(len(call.compared))

    x = y * 1
    y.register_hook(look)
    x.sum().backward()
    assert seen == [0]
    assert len(call.compared) == 1


def test_a_call_is_finished_when_no_backward_can_reach_it_or_the_process_ends() -> None:
    y = leaf() * 2
    calls, call = waiting_for(y)
    calls.look()
    assert not call.is_finished
    del y
    calls.look()
    assert call.is_finished
    kept = leaf() * 2
    calls, call = waiting_for(kept)
    calls.look(is_over=True)
    assert call.is_finished


def test_only_so_many_calls_wait() -> None:
    calls, kept = WaitingCalls(lambda function: function), []
    while not calls.are_too_many():
        kept.append(leaf() * 2)
        calls.add(Call(), [("result", kept[-1])])
    assert len(kept) == 8
