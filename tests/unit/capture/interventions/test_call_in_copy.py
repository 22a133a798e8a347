"""What is done with a call of the program in a copy of its process."""

import io
import json
from typing import Any

import pytest
import torch
import torch._dynamo.utils

from dynamo_core.capture.interventions.call_in_copy import (
    EAGER,
    LINES,
    SAVED,
    ProgramCall,
    outcome_of,
    saved,
)
from dynamo_core.capture.interventions.fork_server import CannotTry, ForkServer, TooLittleMemory
from dynamo_core.capture.interventions.how_a_call_runs import filling_mode
from dynamo_core.capture.interventions.wrong_place import write_after_saving

MEMORY = [
    MemoryError(),
    RuntimeError("[enforce fail at alloc_cpu.cpp:127] . DefaultCPUAllocator: not enough memory: you tried"),
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


def test_that_no_backward_runs_in_a_copy_is_no_exception_of_the_program() -> None:
    def call() -> None:
        raise RuntimeError(
            "Unable to handle autograd's threading in combination with fork-based multiprocessing. See https://…"
        )

    with pytest.raises(CannotTry, match="no backward in a copy"):
        outcome_of(call, (), {})


def test_another_exception_is_what_the_call_raised() -> None:
    assert outcome_of({"a": 1}.__getitem__, ("b",), {})["raised"] == "KeyError: 'b'"


def test_an_error_about_memory_that_is_shared_is_what_the_call_raised() -> None:
    x = torch.arange(20.0)
    outcome = outcome_of(x[1:].copy_, (x[:-1],), {})
    assert "refer to a single memory location" in outcome["raised"]


def asked(function: Any, *args: Any, passes: Any = (), request: str = EAGER) -> dict[str, Any]:
    call = ProgramCall(Compiled(function), None, "eager", args, {})
    server = ForkServer(call.work, lambda: None)
    try:
        answer = server.ask(request, 20, bytes(saved(passes)) if passes else b"")
        leaves: dict[str, Any] = torch.load(io.BytesIO(answer), weights_only=True)
        return leaves
    finally:
        server.end()


def backward_of(*, seed: Any = 1.0, written: Any = (), kept: Any = ()) -> dict[str, Any]:
    """A pass of a backward from a result, which was written after the call where it is in `written`."""
    names = ("keeps_graph", "creates_graph", "is_autocast", "is_of_gradients")
    paths = {"written": list(written), "kept": list(kept)}
    return {"seeds": {"result": torch.tensor(seed)}, **paths, **dict.fromkeys(names, False)}


@pytest.mark.parametrize("written", [[], ["result"]])
def test_a_result_that_was_written_after_the_call_is_written_in_the_copy(written: list[str]) -> None:
    x, seed = torch.ones(2, requires_grad=True), [1.0, 1.0]
    saving = asked(torch.exp, x, passes=[backward_of(seed=seed, written=written)])
    assert ("raised" in saving) == bool(written)
    assert "raised" not in asked(lambda x: x * 2, x, passes=[backward_of(seed=seed, written=written)])


def test_modes_of_the_program_see_the_call_alone() -> None:
    class Twice(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return 2 * func(*args, **(kwargs or {}))

    x = torch.ones(3)
    with Twice(), torch._C.DisableTorchFunction():
        leaves = asked(lambda x: x.view(-1), x)
    assert leaves["result"][-1].tolist() == [2.0, 2.0, 2.0]
    assert leaves["args[0]"][-1].tolist() == [1.0, 1.0, 1.0]


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


def test_what_a_hook_of_the_backward_writes_is_sent() -> None:
    weight = torch.nn.Parameter(torch.ones(2))

    def update(parameter: Any) -> None:
        with torch.no_grad():
            parameter -= parameter.grad
        parameter.grad = None

    weight.register_post_accumulate_grad_hook(update)
    leaves = asked(lambda x: (weight * x).sum(), torch.full((2,), 3.0), passes=[backward_of()])
    assert leaves["gradient of variable weight"] == ["value", "None"]
    assert leaves["variable weight"][-1].tolist() == [-2.0, -2.0]


@pytest.mark.parametrize("kept", [[], ["result"]])
def test_the_gradient_of_a_result_is_sent_where_the_program_keeps_it(kept: list[str]) -> None:
    x = torch.ones(2, requires_grad=True)
    leaves = asked(lambda x: (x * 2).sum(), x, passes=[backward_of(seed=3.0, kept=kept)])
    assert [leaves[f"gradient of {path}"][-1].tolist() for path in kept] == [3.0] * len(kept)
    assert ("gradient of result" in leaves) == bool(kept)


@pytest.mark.skipif(torch.version.cuda is not None, reason="autograd has threads: no backward in a copy")
def test_a_copy_computes_with_as_many_threads_and_compiles_nothing_again() -> None:
    threads, scale = torch.get_num_threads(), [2.0]
    compiled = torch.compile(lambda x: x * scale[0], backend="eager")
    convolution, image = torch.nn.Conv2d(1, 8, 3, stride=2, padding=1), torch.randn(8, 1, 16, 16)

    def backward() -> None:
        convolution(image).sum().backward()  # oneDNN's threads wait for each other in it

    try:
        torch.set_num_threads(2)
        compiled(torch.ones(2))
        backward()

        def work(_: str, file: Any) -> None:
            before = torch._dynamo.utils.counters["frames"]["total"]
            compiled(torch.ones(2))
            backward()
            compiles = torch._dynamo.utils.counters["frames"]["total"] - before
            file.write(f"{compiles} {torch.get_num_threads()}".encode())

        server = ForkServer(work, lambda: None)
        assert server.ask("", 20) == b"0 2"
        backward()
        assert server.ask("", 20) == b"0 2"
        server.end()
    finally:
        torch.set_num_threads(threads)


def test_memory_that_nothing_filled_is_filled() -> None:
    with filling_mode():
        whole, part = torch.empty(2), torch.zeros(2).new_empty(2, dtype=torch.int64)
        zeros = torch.zeros(2)
    assert whole.tolist() == part.tolist() == [77, 77]
    assert zeros.tolist() == [0, 0]


def test_what_was_written_after_it_had_been_saved_for_the_backward() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        y, z = x * 1, x * 2
        saved_value = y.sin() + z
        y.mul_(2)
        z.mul_(2)
        return saved_value

    leaves = asked(function, torch.ones(2, requires_grad=True), request=f"{LINES}:{SAVED}")
    lines: dict[str, Any] = json.loads(leaves[LINES][1])
    place = write_after_saving(lambda _: lines)
    assert place == (__file__, function.__code__.co_firstlineno + 3, "mul_.Tensor")
    assert write_after_saving(lambda _: {**lines, "memory": {}}) is None
