"""What is done with a call of the program in a copy of its process."""

import io
from typing import Any

import pytest
import torch
import torch._dynamo

from dynamo_core.capture.interventions.call_in_copy import EAGER, ProgramCall, outcome_of
from dynamo_core.capture.interventions.fork_server import ForkServer, TooLittleMemory

MEMORY = [
    MemoryError(),
    RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
    torch.OutOfMemoryError("CUDA out of memory"),
]


class Compiled:
    """A function as torch.compile gives it back."""

    def __init__(self, function: Any) -> None:
        self._torchdynamo_orig_callable = function

    def __call__(self, *args: Any) -> Any:
        return self._torchdynamo_orig_callable(*args)


@pytest.mark.parametrize("error", MEMORY)
def test_too_little_memory_in_a_copy_is_no_exception_of_the_program(error: Exception) -> None:
    def call() -> None:
        raise error

    with pytest.raises(TooLittleMemory):
        outcome_of(call, (), {})


def test_another_exception_is_what_the_call_raised() -> None:
    assert outcome_of({"a": 1}.__getitem__, ("b",), {})["raised"] == "KeyError: 'b'"


def asked(function: Any, *args: Any) -> dict[str, Any]:
    call = ProgramCall(Compiled(function), None, "eager", args, {})
    server = ForkServer(call.work, lambda: None)
    try:
        leaves: dict[str, Any] = torch.load(io.BytesIO(server.ask(EAGER, 20)), weights_only=True)
        return leaves
    finally:
        server.end()


def test_tensors_of_two_dtypes_that_share_memory_are_sent() -> None:
    leaves = asked(lambda x: torch.view_as_complex(x), torch.ones(3, 2))
    assert leaves["result"][-1].tolist() == [1 + 1j] * 3
    assert leaves["args[0]"][-1].tolist() == [[1.0, 1.0]] * 3


def test_the_gradient_of_a_parameter_is_sent_once_it_is_another() -> None:
    weight = torch.nn.Parameter(torch.ones(2))
    weight.grad = torch.ones(2)

    def untouched(x: Any) -> Any:
        return weight * x

    def accumulated(x: Any) -> Any:
        (weight * x).sum().backward()

    path = "gradient of variable weight"
    assert asked(untouched, torch.ones(2))[path][-1] == "untouched"
    assert asked(accumulated, torch.full((2,), 3.0))[path][-1].tolist() == [4.0, 4.0]
