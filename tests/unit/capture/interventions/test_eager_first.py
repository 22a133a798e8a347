"""A call is made in eager first, in the program's own process, which does not notice."""

import io
import logging
import os
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch._dynamo.utils

from dynamo_core.capture.interventions import eager_first as eager_first_module
from dynamo_core.capture.interventions.call_in_copy import COMPILED, EAGER, ROUNDED, ProgramCall
from dynamo_core.capture.interventions.eager_first import EagerFirst
from dynamo_core.capture.interventions.fork_server import CannotTry, NoAnswer


class Compiled:
    """A function as torch.compile gives it back."""

    def __init__(self, function: Any) -> None:
        self._torchdynamo_orig_callable = function


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs the tests may have threads."""
    monkeypatch.setattr(eager_first_module, "has_other_threads", lambda: False)


def eager_first(function: Callable[..., Any], *args: Any) -> EagerFirst:
    return EagerFirst(ProgramCall(Compiled(function), None, "eager", args, {}), "no copy")


def leaves(answer: bytes) -> dict[str, Any]:
    content: dict[str, Any] = torch.load(io.BytesIO(answer), weights_only=True)
    return content


@pytest.mark.usefixtures("alone")
def test_what_the_call_leaves_is_known_and_nothing_has_changed() -> None:
    calls: list[int] = []

    def step(x: torch.Tensor) -> torch.Tensor:
        calls.append(len(calls))
        return x.add_(torch.rand(2))

    x, state = torch.ones(2), torch.get_rng_state()
    server = eager_first(step, x)
    assert (calls, x.tolist()) == ([], [1, 1]) and torch.equal(torch.get_rng_state(), state)
    left = leaves(server.ask(EAGER, 1))
    step(x)
    assert left["args[0]"][-1].tolist() == x.tolist()
    assert left["variable calls[0]"] == ["value", "0"]


@pytest.mark.usefixtures("alone")
def test_later_answers_begin_with_the_state_before_the_call_and_leave_that_after_it() -> None:
    calls: list[int] = []

    def step(x: torch.Tensor) -> torch.Tensor:
        calls.append(len(calls))
        return x.add_(1)

    x = torch.ones(2)
    server = eager_first(step, x)
    step(x), step(x)
    server.ask(EAGER, 1)
    assert leaves(server.ask(EAGER, 1))["args[0]"][-1].tolist() == [2, 2]
    assert leaves(server.ask(f"{ROUNDED}:1", 1))["args[0]"][-1].tolist() == pytest.approx([2, 2])
    assert (calls, x.tolist()) == ([0, 1], [3, 3])


@pytest.mark.usefixtures("alone")
def test_what_only_a_copy_knows_has_no_answer() -> None:
    server = eager_first(torch.sin, torch.ones(2))
    for request, given in ((COMPILED, b""), (EAGER, b"passes")):
        with pytest.raises(NoAnswer, match="no copy"):
            server.ask(request, 1, given)


@pytest.mark.usefixtures("alone")
def test_nothing_is_printed_logged_or_warned_of(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    def step(x: torch.Tensor) -> torch.Tensor:
        print("printed")
        print("printed", file=sys.stderr)
        sys.stdout.buffer.write(b"printed")
        logging.getLogger("odd").error("logged")
        warnings.warn("warned", stacklevel=1)
        return x

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        server = eager_first(step, torch.ones(2))
    left = leaves(server.ask(EAGER, 1))
    assert capfd.readouterr() == ("", "") and not caplog.records and not warned
    assert left["printed[0]"] == ["value", "'printed'"]


@pytest.mark.usefixtures("alone")
def test_an_exception_is_what_the_call_left() -> None:
    def step(x: torch.Tensor) -> None:
        raise KeyError("odd")

    assert leaves(eager_first(step, torch.ones(2)).ask(EAGER, 1))["raised"] == [
        "value",
        "\"KeyError: 'odd'\"",
    ]


WEIGHT = torch.ones(2, requires_grad=True)
BEFORE = (WEIGHT * 2).sum()


def writes_a_file(x: torch.Tensor) -> None:
    with open("odd.txt", "w") as file:
        file.write("odd")


def hides_that_it_writes(x: torch.Tensor) -> None:
    try:
        os.mkdir("odd")
    except BaseException:
        x.add_(1)


def writes_what_autograd_follows(x: torch.Tensor) -> None:
    x.mul_(WEIGHT)


def runs_a_backward(x: torch.Tensor) -> None:
    BEFORE.backward()


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("step", "why"),
    [
        (writes_a_file, "it writes odd.txt"),
        (hides_that_it_writes, "it calls os.mkdir"),
        (writes_what_autograd_follows, "a tensor that autograd follows"),
        (runs_a_backward, "a backward through what was made before it"),
    ],
)
def test_what_reaches_out_or_cannot_be_put_back_is_refused(
    step: Callable[..., None], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    x = torch.ones(2)
    with pytest.raises(CannotTry, match=why):
        eager_first(step, x)
    assert not [*tmp_path.iterdir()] and x.tolist() == [1, 1]
    assert x.grad_fn is None and WEIGHT.grad is None
    with open("now.txt", "w"):  # the program itself may
        pass


@pytest.mark.usefixtures("alone")
def test_a_backward_that_was_refused_still_runs() -> None:
    weight = torch.ones(2, requires_grad=True)
    loss = (weight.exp() * 2).sum()
    with pytest.raises(CannotTry):
        eager_first(loss.backward)
    loss.backward()
    assert weight.grad is not None


def test_other_threads_may_change_values() -> None:
    go_on = threading.Event()
    thread = threading.Thread(target=go_on.wait)
    thread.start()
    try:
        with pytest.raises(CannotTry, match="other threads"):
            eager_first(torch.sin, torch.ones(2))
    finally:
        go_on.set()
        thread.join()
