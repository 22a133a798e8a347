"""What is recorded of a compared call: each part that could not be compared is said to be so."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import Mock

import pytest
import torch
import torch._dynamo.utils

from dynamo_core.capture.interventions import compared_call
from dynamo_core.capture.interventions.call_in_copy import LINES, STAGE
from dynamo_core.capture.interventions.compared_call import ComparedCall
from dynamo_core.capture.interventions.fork_server import NoAnswer, NoAnswerInTime
from dynamo_core.capture.interventions.observed_state import TORCH_NUMBERS, Leaves, observe
from dynamo_core.capture.interventions.verified_backward import WaitingCalls
from dynamo_core.capture.interventions.verify_budget import VerifyBudget


class Verifier:
    """What all comparisons of a process share."""

    def __init__(self, *, is_alone: bool, is_bitwise: bool, finds_lines: bool) -> None:
        self.finds_lines = finds_lines
        self.waiting = WaitingCalls(lambda function: function)
        self.is_bitwise = is_bitwise
        self.budget = VerifyBudget(None)
        self._is_alone = is_alone

    @contextmanager
    def alone(self) -> Iterator[bool]:
        yield self._is_alone


class Function:
    """What was compiled; it keeps what is recorded of its calls."""

    backend: Any = None
    function: Any = None
    is_alone = True
    is_bitwise = False
    finds_lines = True

    def __init__(self) -> None:
        self.recorded: list[dict[str, Any]] = []
        self.has_stopped = False

    def stop(self) -> None:
        self.has_stopped = True

    def record(self, number: int, **fields: Any) -> None:
        self.recorded.append(fields)

    @property
    def verifier(self) -> Verifier:
        return Verifier(is_alone=self.is_alone, is_bitwise=self.is_bitwise, finds_lines=self.finds_lines)


def compared(function: Function, answer: Any) -> tuple[ComparedCall, Mock]:
    """A call without a result, of which the copy gave this answer, or raised it."""
    call, server = ComparedCall(function, 1), Mock()
    call.program = call_that_left(observed(torch.ones(2)))
    server.ask.side_effect = answer if isinstance(answer, Exception) else lambda *_: answer
    call.compare({}, server, 0, 0)
    return call, server


def call_that_left(leaves: Leaves) -> Mock:
    return Mock(draws_otherwise=lambda own, eager: False, observed=lambda outcome, versions: leaves)


def observed(value: torch.Tensor) -> Leaves:
    return observe({"result": value, TORCH_NUMBERS: torch.get_rng_state()}, set())


def leaves_of(value: torch.Tensor) -> bytes:
    file = io.BytesIO()
    torch.save(observed(value), file)
    return file.getvalue()


def test_a_call_that_agrees_has_no_gradients_that_are_compared() -> None:
    function = Function()
    _, server = compared(function, leaves_of(torch.ones(2)))
    (recorded,) = function.recorded
    assert recorded["outcome"] == "agrees" and recorded["compared"] > 0
    assert "gradients" not in recorded
    server.end.assert_called_once()


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (NoAnswer("it crashed in the copy of the process"), "it crashed in the copy of the process"),
        (NoAnswerInTime("it took longer than 20 s"), "it took longer than 20 s"),
        (ValueError("odd"), "ValueError: odd"),
    ],
)
def test_a_copy_that_does_not_answer_is_said(error: Exception, why: str) -> None:
    function = Function()
    _, server = compared(function, error)
    (recorded,) = function.recorded
    assert recorded["outcome"] == "not compared"
    assert recorded["why"].startswith(why)  # with threads it is said that a copy has only one
    assert function.has_stopped == isinstance(error, NoAnswerInTime)
    server.end.assert_called_once()


@pytest.mark.parametrize("has_threads", [True, False])
def test_what_only_the_programs_own_call_gives_may_be_due_to_its_threads(
    has_threads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compared_call, "has_other_threads", lambda: has_threads)
    function = Function()
    call, server = ComparedCall(function, 1), Mock()
    call.program = call_that_left(observed(torch.zeros(2)))
    server.ask.side_effect = lambda *_: leaves_of(torch.ones(2))
    call.compare({}, server, 0, 0)
    (recorded,) = function.recorded
    assert recorded["outcome"] == ("agrees" if has_threads else "disagrees")
    assert ("other threads" in str(recorded["left_out"])) == has_threads


def test_a_difference_in_the_copy_too_is_wrong_beside_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compared_call, "has_other_threads", lambda: True)
    function = Function()
    call, server = ComparedCall(function, 1), Mock()
    call.program = call_that_left(observed(torch.zeros(2)))
    values = {"compiled": torch.full((2,), 3.0), "stage": torch.full((2,), 3.0)}
    server.ask.side_effect = lambda request, *_: leaves_of(
        values.get(request.partition(":")[0], torch.ones(2))
    )
    call.compare({}, server, 0, 0)
    (recorded,) = function.recorded
    assert (recorded["outcome"], recorded["error"]) == ("disagrees", 2.0)


def test_where_the_copy_gives_what_the_program_had_no_thread_is_blamed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compared_call, "has_other_threads", lambda: True)
    function = Function()
    call, server = ComparedCall(function, 1), Mock()
    call.program = call_that_left(observed(torch.zeros(2)))
    server.ask.side_effect = lambda request, *_: leaves_of(
        (torch.zeros if request.startswith("compiled") else torch.ones)(2)
    )
    call.compare({}, server, 0, 0)
    (recorded,) = function.recorded
    assert (recorded["outcome"], recorded["left_out"]) == ("disagrees", None)


@pytest.mark.parametrize(("filled", "outcome"), [(77.0, "agrees"), (1.0, "disagrees")])
def test_memory_that_nothing_filled_is_no_wrong_result(
    filled: float, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compared_call, "has_other_threads", lambda: False)
    function = Function()
    call, server = ComparedCall(function, 1), Mock()
    call.program = call_that_left(observed(torch.zeros(2)))
    server.ask.side_effect = lambda request, *_: leaves_of(
        torch.full((2,), filled) if request == "filled" else torch.ones(2)
    )
    call.compare({}, server, 0, 0)
    (recorded,) = function.recorded
    assert recorded["outcome"] == outcome
    assert ("nothing has filled" in str(recorded["left_out"])) == (outcome == "agrees")


def test_gradients_that_could_not_be_compared_are_said() -> None:
    function = Function()
    call, server = compared(function, leaves_of(torch.ones(2)))
    server.ask.side_effect = NoAnswer("it crashed in the copy of the process")
    assert call.compare_backward([{"seeds": {}, "has_ended": True, "changed": None}]) is False
    assert function.recorded[-1]["gradients"] == "not compared: it crashed in the copy of the process"
    function.is_alone = False
    assert call.compare_backward([{"seeds": {}, "has_ended": True, "changed": None}]) is False
    assert function.recorded[-1]["gradients"] == "not compared: another call was being compared"
    assert function.recorded[-1]["outcome"] == "agrees"


def test_a_backward_that_reaches_nothing_known_is_not_said_to_be_compared() -> None:
    function = Function()
    call, server = compared(function, leaves_of(torch.ones(2)))
    nothing = io.BytesIO()
    torch.save({}, nothing)
    server.ask.side_effect = lambda *_: nothing.getvalue()
    assert call.compare_backward([{"seeds": {}, "has_ended": True, "changed": None}]) is False
    assert function.recorded[-1]["gradients"].startswith("not compared: no parameter or input")


def test_a_backward_that_leaves_no_gradient_is_not_said_to_be_compared() -> None:
    function = Function()
    call, server = compared(function, leaves_of(torch.ones(2)))
    nothing = io.BytesIO()
    torch.save(observe({"gradient of x": None}, set()), nothing)
    server.ask.side_effect = lambda *_: nothing.getvalue()
    assert call.compare_backward([{"seeds": {}, "has_ended": True, "changed": None}]) is False
    assert function.recorded[-1]["gradients"] == "not compared: the backward left no gradient"


@pytest.mark.parametrize("is_changed", [True, False])
def test_what_the_program_changes_between_a_call_and_its_backward_is_said(is_changed: bool) -> None:
    function, scale = Function(), [2.0]
    function.function = lambda x: x * scale[0]
    call, server = ComparedCall(function, 1), Mock()
    call.program = call_that_left(observed(torch.ones(2)))
    server.ask.side_effect = lambda *_: leaves_of(torch.ones(2))
    result = function.function(torch.ones(2, requires_grad=True))
    call.compare({"result": result}, server, 0, 0)
    if is_changed:
        scale[0] = 5.0
    result.sum().backward()
    call.finish()
    expected = "not compared: variable scale[0] changed between the call and its backward"
    assert function.recorded[0]["gradients"] == (expected if is_changed else "compared")


def test_what_a_thread_writes_meanwhile_is_taken_for_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    def walked(_: Any) -> Leaves:
        raise RuntimeError("dictionary changed size during iteration")

    monkeypatch.setattr(compared_call, "python_values", walked)
    call = ComparedCall(Function(), 1)
    assert call.changed_since() == "what another thread writes"


def test_memory_of_a_gradient_that_nothing_filled_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compared_call, "has_other_threads", lambda: False)
    function = Function()
    call, server = compared(function, leaves_of(torch.ones(2)))
    values = {"compiled": torch.zeros(2), "filled": torch.full((2,), 77.0)}
    server.ask.side_effect = lambda request, *_: leaves_of(values.get(request, torch.ones(2)))
    assert call.compare_backward([{"seeds": {}, "has_ended": True, "changed": None}]) is True
    call.finish()
    assert function.recorded[-1]["left_out"] == "gradients with memory that nothing has filled"


def test_a_backward_that_raised_in_the_program_alone_is_not_said_to_be_compared() -> None:
    function = Function()
    call, _ = compared(function, leaves_of(torch.ones(2)))
    assert call.compare_backward([{"seeds": {}, "has_ended": False, "changed": None}]) is False
    assert function.recorded[-1]["gradients"].startswith("not compared: the program's backward did not come")


def bitwise(with_casts: torch.Tensor) -> tuple[Function, dict[str, Any]]:
    """What is recorded of a call that is off by rounding, where Inductor gives this with all casts kept."""
    function = Function()
    function.is_bitwise, function.backend = True, Mock(compiler_name="inductor", spec=["compiler_name"])
    rounded, exact = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0 + 2**-22])
    lines = {"operations": [["/a/f.py", 3, "_to_copy.default", 1.0, "torch.bfloat16"]]}

    def answer(request: str, *_: Any) -> bytes:
        if request.startswith("lines"):
            file = io.BytesIO()
            torch.save({"lines": ["value", json.dumps(lines)]}, file)
            return file.getvalue()
        return leaves_of(with_casts if request.startswith("stage") else rounded)

    call, server = ComparedCall(function, 1), Mock()
    call.program = call_that_left(observed(exact))
    server.ask.side_effect = answer
    call.compare({}, server, 0, 0)
    return function, function.recorded[-1]


def test_bitwise_casts_that_are_left_out_are_wrong() -> None:
    function, recorded = bitwise(torch.tensor([1.0, 2.0]))
    assert (recorded["outcome"], recorded["kind"]) == ("disagrees", "more exact than written")
    assert (recorded["stage"], recorded["wrong_line"]) == ("inductor", 3)
    assert recorded["error"] == 2**-22 and function.has_stopped


def test_bitwise_another_rounding_is_said_and_not_wrong() -> None:
    function, recorded = bitwise(torch.tensor([1.0, 2.0 + 2**-22]))
    assert (recorded["outcome"], recorded["kind"]) == ("agrees", "rounded otherwise")
    assert recorded["error"] == 2**-22 and not function.has_stopped


def asked_of_a_wrong_call(function: Function) -> list[tuple[Any, ...]]:
    """What the copy is asked where eager gives ones and the program had zeros, each with its seconds."""
    call, server = ComparedCall(function, 1), Mock()
    call.program = call_that_left(observed(torch.zeros(2)))
    server.ask.side_effect = lambda *_: leaves_of(torch.ones(2))
    call.compare({}, server, 0, 0)
    return [each.args for each in server.ask.call_args_list]


def test_no_line_is_looked_for_where_only_the_stage_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compared_call, "has_other_threads", lambda: False)
    asked = {}
    for finds_lines in (True, False):
        function = Function()
        function.finds_lines = finds_lines
        asked[finds_lines] = [request for request, *_ in asked_of_a_wrong_call(function)]
        assert function.recorded[0]["outcome"] == "disagrees"
    assert any(each.startswith(LINES) for each in asked[True])
    assert not any(each.startswith(LINES) for each in asked[False])


def test_the_search_for_the_stage_and_the_line_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compared_call, "has_other_threads", lambda: False)
    monkeypatch.setattr(compared_call, "_LONGEST_SEARCH", 0.0)
    function = Function()
    searched = [args for args in asked_of_a_wrong_call(function) if args[0].startswith(STAGE)]
    assert searched and all(seconds == 0.0 for _, seconds, _ in searched)
    assert function.recorded[0]["why"].startswith("the search for where it comes from was ended")


def test_versions_are_counted_of_functions_and_of_modules() -> None:
    def doubled(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    class Doubled(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2

    for function in (doubled, Doubled()):
        before = compared_call._entries_of(function)
        compiled = torch.compile(function, backend="eager", dynamic=False)
        for size in (3, 4):
            compiled(torch.ones(size))
        assert compared_call._entries_of(function) - before == 2
    assert compared_call._entries_of(len) == 0

    class Asked:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError("code of the program ran")

    assert compared_call._entries_of(Asked()) == 0
