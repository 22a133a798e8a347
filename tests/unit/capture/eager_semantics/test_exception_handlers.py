"""Which operations of a graph stand where the program handles what they raise."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from dynamo_core.capture.eager_semantics.exception_handlers import handled_operation


class OtherError(Exception):
    """No operation of torch's raises it."""


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def graph_of(function: Callable[..., Any]) -> Any:
    """Its graph; skips where this torch makes none, as 2.8 does of `contextlib.suppress`."""
    graphs: list[Any] = []

    def backend(gm: Any, example_inputs: Any) -> Any:
        graphs.append(gm)
        return gm.forward

    torch.compile(function, backend=backend)(torch.eye(2))
    if not graphs and function is suppress:
        pytest.skip("this torch makes no graph of it")
    (graph,) = graphs
    return graph


def except_runtime_error(x: torch.Tensor) -> torch.Tensor:
    try:
        return torch.linalg.cholesky(x)  # type: ignore[no-any-return]
    except RuntimeError:
        return x


def except_base_of_what_torch_raises(x: torch.Tensor) -> torch.Tensor:
    try:
        return torch.linalg.cholesky(x)  # type: ignore[no-any-return]
    except (OtherError, LookupError):
        return x


def except_name_that_is_not_known(x: torch.Tensor) -> torch.Tensor:
    errors = (RuntimeError,)
    try:
        return torch.linalg.cholesky(x)  # type: ignore[no-any-return]
    except errors:
        return x


def bare_except(x: torch.Tensor) -> torch.Tensor:
    try:
        return torch.linalg.cholesky(x)  # type: ignore[no-any-return]
    except:  # noqa: E722
        return x


def finally_clause(x: torch.Tensor) -> torch.Tensor:
    try:
        return torch.linalg.cholesky(x)  # type: ignore[no-any-return]
    finally:
        str(1)


def suppress(x: torch.Tensor) -> torch.Tensor:
    y = x
    with contextlib.suppress(RuntimeError):
        y = torch.linalg.cholesky(x)
    return y


@pytest.mark.parametrize(
    "function",
    [
        except_runtime_error,
        except_base_of_what_torch_raises,
        except_name_that_is_not_known,
        bare_except,
        finally_clause,
        suppress,
    ],
)
def test_a_handler_that_could_get_the_error_of_an_operation(function: Callable[..., Any]) -> None:
    found = handled_operation(graph_of(function))
    line = function.__code__.co_firstlineno + (
        3 if function in (suppress, except_name_that_is_not_known) else 2
    )
    assert found == (__file__, line, False)
    assert handled_operation(graph_of(lambda x: function(x) * 2)) == found


def except_types_that_torch_does_not_raise(x: torch.Tensor) -> torch.Tensor:
    try:
        return torch.linalg.cholesky(x)  # type: ignore[no-any-return]
    except (OtherError, StopIteration, OSError):
        return x


def operation_ahead_of_try(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    try:
        return y
    except RuntimeError:
        return x


def operation_in_handler(x: torch.Tensor) -> torch.Tensor:
    try:
        str(1)
    except RuntimeError:
        return x
    return x + 1


def context_of_torch(x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return x + 1


@pytest.mark.parametrize(
    "function",
    [except_types_that_torch_does_not_raise, operation_ahead_of_try, operation_in_handler, context_of_torch],
)
def test_no_handler_could_get_the_error_of_an_operation(function: Callable[..., Any]) -> None:
    assert handled_operation(graph_of(function)) is None


def test_a_handler_of_ctrl_c_is_one_that_a_graph_cannot_reach() -> None:
    def interrupted(x: torch.Tensor) -> torch.Tensor:
        try:
            return x + 1
        except KeyboardInterrupt:
            return x

    found = handled_operation(graph_of(interrupted))
    assert found is not None and found.handles_interrupts


@torch.library.custom_op("test_exception_handlers::own", mutates_args=())
def own(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


@own.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


def test_a_custom_operator_can_raise_anything() -> None:
    def with_own(x: torch.Tensor) -> torch.Tensor:
        try:
            y: torch.Tensor = own(x)
        except OtherError:
            return x
        return y

    assert handled_operation(graph_of(with_own)) is not None
