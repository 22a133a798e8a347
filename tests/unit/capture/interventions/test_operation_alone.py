"""The operation of a graph that a backend gets wrong when it is given it alone."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from dynamo_core.capture.interventions.call_in_copy import outcome_of
from dynamo_core.capture.interventions.operation_alone import EVERY_GRAPH, searching_backend


def step(x: Any) -> Any:
    y = x + 1
    z = y.sin()
    z.mul_(2)
    return z.sum()


def first_wrong(wrong: Callable[[Any], Any] | None, function: Callable[[Any], Any] = step) -> list[Any]:
    """What is found in a function by a backend that compiles a graph as `wrong` says; None is no backend."""
    found: list[Any] = []
    backend = None if wrong is None else lambda gm, inputs: wrong(gm)
    searching = searching_backend(backend, found, lambda call: outcome_of(call, (), {}))
    torch._dynamo.reset()
    torch.compile(function, backend=searching)(torch.ones(2, requires_grad=True))
    torch._dynamo.reset()
    return found


def calls(gm: Any, name: str) -> bool:
    return any(name in str(node.target) for node in gm.graph.nodes if node.op.startswith("call_"))


def test_a_backend_that_is_right() -> None:
    assert first_wrong(lambda gm: gm) == []


def test_a_wrong_value() -> None:
    def wrong(gm: Any) -> Any:
        return (lambda x: (x.cos(),)) if calls(gm, "sin") else gm

    line = step.__code__.co_firstlineno
    assert first_wrong(wrong)[:2] == [__file__, line + 2]


def test_an_operation_of_several_results_is_not_taken_for_wrong() -> None:
    def halves(x: Any) -> Any:
        low, high = x.chunk(2)
        return low * high.sin()

    def wrong(gm: Any) -> Any:
        """Like compilers, it takes tensors alone as outputs."""
        (output,) = gm.graph.find_nodes(op="output")
        assert not any("chunk" in str(each.target) for each in output.args[0])
        return (lambda *args: (args[0].cos(),)) if calls(gm, "sin") else gm

    line = halves.__code__.co_firstlineno
    assert first_wrong(wrong, halves)[:3] == [__file__, line + 2, "sin"]


def test_a_backend_that_is_wrong_for_every_graph_has_no_wrong_operation() -> None:
    def wrong(gm: Any) -> Any:
        return lambda *args: tuple(each + 1 for each in gm(*args))

    assert first_wrong(wrong)[0] == EVERY_GRAPH


def test_a_wrong_gradient() -> None:
    def wrong(gm: Any) -> Any:
        return (lambda x: ((x + 1).detach() + x * 0,)) if calls(gm, "add") else gm

    line = step.__code__.co_firstlineno
    assert first_wrong(wrong)[:2] == [__file__, line + 1]


def test_a_wrong_gradient_of_a_sum_that_is_always_the_same() -> None:
    def f(x: Any) -> Any:
        return x.softmax(0)

    def wrong(gm: Any) -> Any:
        return (lambda x: (x.softmax(0).detach() + x * 0,)) if calls(gm, "softmax") else gm

    assert first_wrong(wrong, f)[:2] == [__file__, f.__code__.co_firstlineno + 1]


def test_an_input_that_is_given_back_in_place_of_a_copy_is_no_other_value() -> None:
    def folding(gm: Any) -> Any:
        return (lambda x: (x,)) if calls(gm, "mul") else gm

    def f(x: Any) -> Any:
        return (x.detach() * 1).sum()

    place = [__file__, f.__code__.co_firstlineno + 1]
    found = first_wrong(folding, f)
    assert found[:2] == place and found[3:] == [False, None]


def test_a_missing_mutation() -> None:
    def wrong(gm: Any) -> Any:
        return (lambda x: (x * 2,)) if calls(gm, "mul_") else gm

    line = step.__code__.co_firstlineno
    assert first_wrong(wrong)[:2] == [__file__, line + 3]


def test_an_exception() -> None:
    def wrong(gm: Any) -> Any:
        if calls(gm, "sum"):
            raise ValueError
        return gm

    line = step.__code__.co_firstlineno
    assert first_wrong(wrong)[:2] == [__file__, line + 4]


def test_an_operation_that_gives_something_else_than_tracing_expects() -> None:
    library = torch.library.Library("widened", "DEF")
    library.define("wide(Tensor x) -> Tensor")
    library.impl("wide", lambda x: x.double(), "CPU")
    torch.library.register_fake("widened::wide", torch.empty_like, lib=library)

    def f(x: Any) -> Any:
        y = x + 1
        z = torch.ops.widened.wide(y)
        return z.float()

    line = f.__code__.co_firstlineno
    found = first_wrong(lambda gm: gm, f)
    assert found[:4] == [__file__, line + 2, "torch.ops.widened.wide", True]
    assert found[4] == "gives dtype float64, where its fake kernel says float32"


def test_an_operation_that_gives_its_argument_and_does_not_say_so() -> None:
    library = torch.library.Library("given", "DEF")
    library.define("same(Tensor x) -> Tensor")
    library.impl("same", lambda x: x, "CPU")
    torch.library.register_fake("given::same", torch.empty_like, lib=library)

    def f(x: Any) -> Any:
        y = x + 1
        z = torch.ops.given.same(y)
        return y.reshape(-1) + z

    line = f.__code__.co_firstlineno
    found = first_wrong(lambda gm: gm, f)
    assert found[:4] == [__file__, line + 2, "torch.ops.given.same", True]
    assert found[4] == "gives memory of what it is given, where its fake kernel gives new memory"


def test_other_strides_are_named_where_nothing_worse_is_wrong() -> None:
    def wrong(gm: Any) -> Any:
        if calls(gm, "mul"):
            return lambda x: (gm(x)[0].t().contiguous().t(),)
        return (lambda x: (x * 0,)) if calls(gm, "add") else gm

    def f(x: Any) -> Any:
        y = x.expand(2, 2) * 2
        return y.tanh()

    def g(x: Any) -> Any:
        y = x.expand(2, 2) * 2
        return y + 1

    assert first_wrong(wrong, f)[:2] == [__file__, f.__code__.co_firstlineno + 1]
    assert first_wrong(wrong, g)[:2] == [__file__, g.__code__.co_firstlineno + 2]


def test_an_operator_that_gives_other_strides_than_tracing_expects() -> None:
    """It is found before one that a backend gets wrong, since others may read its result otherwise."""

    @torch.library.custom_op("found_alone::halves", mutates_args=())
    def halves(x: torch.Tensor) -> list[torch.Tensor]:
        return [x / 2, (x / 2).t().contiguous().t()]

    halves.register_fake(lambda x: [torch.empty_like(x), torch.empty_like(x)])

    def wrong(gm: Any) -> Any:
        return (lambda x: (x * 0,)) if calls(gm, "add") else gm

    def f(x: Any) -> Any:
        y = x.detach().expand(2, 2) * 2
        first, second = halves(y)
        return first + 1, second

    found = first_wrong(wrong, f)
    assert found[:2] == [__file__, f.__code__.co_firstlineno + 2]
    assert found[4] == "gives strides (1, 2), where its fake kernel says (2, 1)"


@torch.library.custom_op("found_alone::clip", mutates_args=("first",))
def clip(first: torch.Tensor, second: torch.Tensor) -> None:
    first.clamp_(max=1.5)
    second.clamp_(max=0.5)


@pytest.mark.parametrize("largest", [0.5, 3.0])
def test_an_operator_that_writes_what_it_does_not_declare(largest: float) -> None:
    """It is found even by a backend that is right, where it changes a value."""

    def f(x: Any) -> Any:
        y = x.detach() * 2
        z = y.clamp(max=largest)
        torch.ops.found_alone.clip(y, z)
        return y + z

    found = first_wrong(lambda gm: gm, f)
    assert found[:2] == ([__file__, f.__code__.co_firstlineno + 3] if largest > 0.5 else [])
    assert found[4:] == (["writes `second`, which it does not declare"] if largest > 0.5 else [])


def test_an_operator_that_gives_more_than_tracing_expects_is_found_without_a_backend() -> None:
    @torch.library.custom_op("found_alone::padded", mutates_args=())
    def padded(x: torch.Tensor) -> torch.Tensor:
        return torch.cat([x, x])

    padded.register_fake(torch.empty_like)

    def f(x: Any) -> Any:
        y = x.detach() + 1
        return padded(y) / y.shape[0]

    found = first_wrong(None, f)
    assert found[:2] == [__file__, f.__code__.co_firstlineno + 2]
    assert found[4] == "gives sizes (4,), where its fake kernel says (2,)"


@pytest.mark.parametrize("does_write", [False, True])
def test_an_operator_whose_backward_writes_the_gradient_that_it_is_given(does_write: bool) -> None:
    """It is found even by a backend that is right."""

    @torch.library.custom_op(f"found_alone::same_{does_write}", mutates_args=())
    def same(x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    same.register_fake(torch.empty_like)
    same.register_autograd(lambda ctx, gradient: gradient.mul_(2) if does_write else gradient * 2)

    def f(x: Any) -> Any:
        y = x + 1
        z = same(y)
        return y + z

    place = [__file__, f.__code__.co_firstlineno + 2] if does_write else []
    assert first_wrong(lambda gm: gm, f)[:2] == place
