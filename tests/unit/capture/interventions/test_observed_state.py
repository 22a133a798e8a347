"""What a call can reach, and the leaves of it."""

import functools
from collections import OrderedDict, deque
from typing import Any

import numpy
import pytest
import torch

from dynamo_core.capture.interventions.observed_state import (
    LEFT_OUT,
    SAME,
    TENSOR,
    UNTOUCHED,
    VALUE,
    observe,
    roots_of,
)

calls = [0]
scale = 2.0


def helper(x: Any) -> Any:
    calls[0] += 1
    return x * scale


def uses_globals(x: Any) -> Any:
    return helper(x)


@functools.lru_cache
def cached() -> Any:
    return calls[0]


def uses_cached(x: Any) -> Any:
    return x * cached()


def make(offset: Any) -> Any:
    def inner(x: Any) -> Any:
        return x + offset

    return inner


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)
        self.seen: list[int] = []

    def forward(self, x: Any) -> Any:
        self.seen.append(1)
        return helper(self.linear(x))


def test_arguments_variables_around_and_globals_that_functions_it_calls_name() -> None:
    assert set(roots_of(uses_globals, (1, 2), {"key": 3})) == {
        "args[0]",
        "args[1]",
        "argument key",
        "global calls",
        "global scale",
    }
    assert roots_of(make([5]), (1,), {})["variable offset"] == [5]


class Counter:
    def count(self) -> None:
        calls[0] += 1


def makes_a_counter(x: Any) -> Any:
    Counter().count()
    return x


def test_an_attribute_is_no_global_variable_of_its_name() -> None:
    """Dynamo puts what a method with a promised result gave into a global variable of the method's name."""

    def names_an_attribute(x: Any) -> Any:
        return x.calls

    assert set(roots_of(names_an_attribute, (1,), {})) == {"args[0]"}


def test_what_methods_of_the_programs_classes_name_is_reached() -> None:
    assert set(roots_of(makes_a_counter, (), {})) == {"global calls"}
    assert "global calls" in roots_of(make(Counter()), (), {})


def test_a_module_is_reached_with_its_attributes_and_what_its_forward_names() -> None:
    net = Net()
    roots = roots_of(net.forward, (1,), {})
    assert roots["self"] is net
    assert roots["global calls"] is calls
    leaves = observe(roots, {id(net.linear.weight)})
    assert leaves["self.linear.weight"][-1] == UNTOUCHED
    assert leaves["self.linear.bias"][0] == TENSOR
    assert "self.seen" in leaves
    assert not any("hooks" in path for path in leaves)


def test_a_module_that_is_compiled_itself_is_reached() -> None:
    layers = torch.nn.Sequential(torch.nn.Linear(2, 2))
    leaves = observe(roots_of(layers, (1,), {}), set())
    assert leaves["self.0.weight"][0] == TENSOR


def test_a_function_behind_a_cache_is_walked_as_the_function() -> None:
    assert "global calls" in roots_of(uses_cached, (1,), {})


def test_shared_objects_and_memory_are_named_by_where_they_were_met_first() -> None:
    x = torch.ones(4)
    leaves = observe({"args[0]": x, "result": [x, x[1:], 3, "a"]}, set())
    assert leaves["result[0]"] == [SAME, "args[0]"]
    assert leaves["result[1]"][6] == "args[0]"
    assert leaves["result[2]"] == [VALUE, "3"]
    assert leaves["result[3]"] == [VALUE, "'a'"]


def test_the_values_own_code_is_not_run() -> None:
    class Loud(dict[str, int]):
        def __iter__(self) -> Any:
            raise AssertionError

        def items(self) -> Any:
            raise AssertionError

    class Property:
        @property
        def value(self) -> Any:
            raise AssertionError

    leaves = observe({"a": Loud(b=1), "c": Property()}, set())
    assert leaves["a['b']"] == [VALUE, "1"]
    assert "c.value" not in leaves


def test_what_is_nested_in_itself_ends() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert observe({"a": endless}, set())["a[0]"] == [SAME, "a"]


class Slotted:
    __slots__ = ("left", "right")

    def __init__(self) -> None:
        self.left = 1


def test_queues_arrays_slots_and_dtypes_are_looked_at() -> None:
    values = [deque([7], maxlen=3), numpy.arange(2), Slotted(), torch.float16, range(3)]
    leaves = observe({"args[0]": values}, set())
    assert leaves["args[0][0][0]"] == [VALUE, "7"]
    assert leaves["args[0][1] dtype"] == [VALUE, "'int64'"]
    assert leaves["args[0][1] values"][-1].tolist() == [0, 1]
    assert leaves["args[0][2].left"] == [VALUE, "1"]
    assert leaves["args[0][3]"] == [VALUE, "torch.float16"]
    assert leaves["args[0][4]"] == [VALUE, "range(0, 3)"]
    assert LEFT_OUT not in leaves


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (torch.ones(2).to_sparse(), "the values of the tensor result"),
        (object(), "what is in result, a object"),
        ({(1,), (2,)}, "what is in the set result"),
        (numpy.array(["a"]), "the values of the array result"),
        (list(range(20_001)), "what is beyond 20000 values or 12 levels"),
    ],
)
def test_what_is_not_looked_at_is_said(value: Any, said: str) -> None:
    assert observe({"result": value}, set())[LEFT_OUT] == [VALUE, said]


def test_long_texts_that_differ_at_their_end() -> None:
    first, second = (observe({"result": "a" * 3000 + end}, set()) for end in ("b", "c"))
    assert first != second


@pytest.mark.parametrize(("kind", "is_seen"), [(OrderedDict, True), (dict, False)])
def test_the_order_of_a_dictionary_is_seen_where_it_is_a_part_of_its_value(kind: type, is_seen: bool) -> None:
    first, second = (observe({"d": kind(parts)}, set()) for parts in ([(1, 2), (3, 4)], [(3, 4), (1, 2)]))
    assert (first != second) == is_seen
