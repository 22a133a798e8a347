"""What a call can reach is put back as it was; what cannot be is refused before anything happens."""

import collections
import dataclasses
import functools
import logging
import random
import threading
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

from dynamo_core.capture.interventions.fork_server import CannotTry
from dynamo_core.capture.interventions.observed_state import observe, roots_of
from dynamo_core.capture.interventions.saved_state import SavedState

COUNTED = [0]
LIMIT = 1.0


def saved(function: Callable[..., Any], *args: Any) -> SavedState:
    return SavedState(function, args, roots_of(function, args, {}))


def _numpys() -> str:
    return repr(numpy.random.get_state())


class Slotted:
    __slots__ = ("later", "value")

    def __init__(self) -> None:
        self.value = [1]


@dataclasses.dataclass
class Setting:
    scale: float = 1.0


class Counter(torch.nn.Module):
    calls_of_all = 0

    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3)
        self.seen: dict[str, Any] = {"first": [1, 2]}
        self.last = collections.deque([1, 2], maxlen=2)
        self.slotted = Slotted()
        self.setting = Setting()
        self.array = numpy.arange(3)
        self.numbers = torch.Generator()

    def forward(self, x: torch.Tensor) -> Any:
        return self.norm(x)


def change(module: Any, x: torch.Tensor) -> None:
    """Change all that there is, in each way that there is."""
    global LIMIT
    LIMIT = 2.0
    COUNTED[0] += 1
    change.calls = [1]  # type: ignore[attr-defined]
    Counter.calls_of_all += 1
    module(x)
    module.seen["first"].append(3)
    module.seen["second"] = x
    module.last.append(3)
    module.slotted.value = [2]
    module.slotted.later = x
    module.setting.scale = 3.0
    module.added = 1
    module.array += 1
    module.norm.register_buffer("extra", x)
    module.norm.weight.data = torch.zeros(5)
    module.norm.bias.requires_grad_(False)
    module.norm.running_mean.resize_(1)
    x[0] = 7
    x.grad = torch.ones_like(x)
    torch.rand(3, generator=module.numbers)
    torch.rand(1), random.random(), numpy.random.rand()


def test_whatever_changed_is_put_back() -> None:
    module, x = Counter(), torch.ones(4, 3)
    args = (module, x)
    version, random_state = x._version, random.getstate()
    numbers = (torch.get_rng_state(), _numpys(), module.numbers.get_state())
    roots = roots_of(change, args, {})
    before = {path: [*leaf[:-1], str(leaf[-1])] for path, leaf in observe(roots, set()).items()}
    state = saved(change, *args)
    change(*args)
    assert LIMIT == 2.0 and "second" in module.seen
    state.put_back()
    roots = roots_of(change, args, {})
    assert {path: [*leaf[:-1], str(leaf[-1])] for path, leaf in observe(roots, set()).items()} == before
    assert (LIMIT, COUNTED, Counter.calls_of_all) == (1.0, [0], 0)
    assert not hasattr(module.slotted, "later") and not hasattr(module, "added")
    assert module.last.maxlen == 2 and not hasattr(change, "calls")
    assert x._version == version and x.grad is None
    assert module.norm.bias.requires_grad
    assert random.getstate() == random_state
    assert torch.equal(torch.get_rng_state(), numbers[0])
    assert _numpys() == numbers[1]
    assert torch.equal(module.numbers.get_state(), numbers[2])


def test_what_a_variable_of_an_enclosing_function_is() -> None:
    count, later = 0, None

    def counts() -> None:
        nonlocal count, later
        count += 1
        later = count

    state = saved(counts)
    counts()
    state.put_back()
    assert (count, later) == (0, None)


def test_memory_is_put_back_for_all_views_of_it() -> None:
    base = torch.arange(6.0)
    view, expanded = base[2:4], base[:1].expand(3)
    state = saved(lambda: None, view, expanded)
    base.add_(1)
    state.put_back()
    assert base.tolist() == [0, 1, 2, 3, 4, 5]


def test_an_inference_tensor_is_put_back() -> None:
    with torch.inference_mode():
        x = torch.ones(2)
        state = saved(lambda: None, x)
        x.add_(1)
        state.put_back()
    assert x.tolist() == [1, 1]


def test_a_gradient_and_hooks_are_put_back() -> None:
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda gradient: gradient)
    x.grad = torch.ones(2)
    gradient = x.grad
    state = saved(lambda: None, x)
    x.register_hook(lambda gradient: 100 * gradient)
    (2 * x).sum().backward()
    assert x.grad.tolist() == [201, 201]
    state.put_back()
    assert x.grad is gradient and x.grad.tolist() == [1, 1]
    (2 * x).sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_an_empty_cache_is_empty_again() -> None:
    @functools.lru_cache
    def cached(n: int) -> int:
        return n + 1

    state = saved(lambda: None, cached)
    cached(1)
    state.put_back()
    assert cached.cache_info().currsize == 0


def test_what_has_no_state_of_its_own_is_let_through() -> None:
    lock, logger = threading.Lock(), logging.getLogger("odd")
    saved(
        lambda: None, lock, logger, torch.float32, torch.Size([1]), functools.partial(max, 1), len, [].append
    )


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (iter([1]), "list_iterator"),
        ((i for i in range(3)), "generator"),
        ([{"deep": zip([1], [2], strict=True)}], "zip"),
        (open(__file__), "TextIOWrapper"),  # noqa: SIM115
        (torch.nn.Buffer(torch.ones(2)).to_sparse(), "layout"),
        (torch.nn.LazyLinear(2), "UninitializedParameter"),
    ],
)
def test_what_cannot_be_put_back_is_refused(value: Any, named: str) -> None:
    with pytest.raises(CannotTry, match=named):
        saved(lambda: None, value)


def test_a_write_that_autograd_has_noted_is_said_after_all_else_is_put_back() -> None:
    weight, x, seen = torch.ones(2, requires_grad=True), torch.ones(2), [1]
    state = saved(lambda: None, x, seen)
    x.mul_(weight)
    seen.append(2)
    with pytest.raises(CannotTry, match="autograd has noted a write"):
        state.put_back()
    assert seen == [1]
