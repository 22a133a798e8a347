"""Backends as the user types them: names, functions, modes, options, and chains of them."""

import ast

import pytest

from dynamo_core.launch.checks import module_callables
from dynamo_core.shared.backend_choice import BackendChoice, option_value, parse_chain, parse_choice


@pytest.mark.parametrize(
    ("text", "name", "mode", "is_function", "module"),
    [
        ("inductor", "inductor", None, False, ""),
        (" inductor:max-autotune ", "inductor", "max-autotune", False, ""),
        ("mine.backends:fast", "mine.backends:fast", None, True, "mine.backends"),
        ("a/b.py:fast:default", "a/b.py:fast", "default", True, "a/b.py"),
        ("lite", "lite", None, False, ""),
        (":lite", "", "lite", False, ""),
    ],
)
def test_what_stands_behind_the_last_colon_is_a_mode_or_a_function(
    text: str, name: str, mode: str | None, is_function: bool, module: str
) -> None:
    choice = parse_choice(text)
    assert (choice.name, choice.mode, choice.options) == (name, mode, ())
    assert (choice.is_function, choice.module) == (is_function, module)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("3", 3),
        ("-1", -1),
        ("1e3", 1000.0),
        ("0.5", 0.5),
        ("x", "x"),
        ("", ""),
    ],
)
def test_an_option_is_a_switch_a_number_or_a_text(text: str, value: object) -> None:
    found = option_value(text)
    assert (type(found), found) == (type(value), value)


def test_a_choice_is_shown_as_it_is_typed() -> None:
    assert str(BackendChoice("ofi")) == "ofi"
    assert str(BackendChoice("inductor", "lite")) == "inductor:lite"
    assert str(BackendChoice("ofi", None, (("a", 1), ("b", True)))) == "ofi[a=1,b=True]"


def test_a_mode_is_for_inductor_or_the_only_backend_where_it_has_none_of_its_own() -> None:
    def modes(text: str) -> list[str | None]:
        return [choice.mode for choice in parse_chain(text, "lite")]

    assert modes("inductor,eager") == ["lite", None]
    assert modes("inductor:default,eager") == ["default", None]
    assert modes("eager") == ["lite"]
    assert [choice.mode for choice in parse_chain("inductor,eager")] == [None, None]


def test_an_option_is_for_the_backend_that_it_names_or_for_the_only_one() -> None:
    (only,) = parse_chain("ofi", options={"size": 3, "fast": True})
    assert only.options == (("size", 3), ("fast", True))
    first, second = parse_chain("ofi,inductor", options={"inductor:size": 3})
    assert (first.options, second.options) == ((), (("size", 3),))
    (function,) = parse_chain("a.py:f", options={"a.py:f:size": 3})
    assert function.options == (("size", 3),)


@pytest.mark.parametrize(
    ("text", "mode", "options", "why"),
    [
        ("ofi,,eager", None, {}, "names a backend with no name"),
        ("", None, {}, "names a backend with no name"),
        ("ofi,eager", None, {"size": 3}, "say which backend the option 'size' is for: ofi:size=VALUE"),
        ("ofi,eager", None, {"inductor:size": 3}, "is for 'inductor', which is not among the backends"),
        ("inductor:lite", None, {"size": 3}, "inductor:lite has a mode"),
        ("inductor", "lite", {"inductor:size": 3}, "inductor:lite has a mode"),
    ],
)
def test_what_is_wrong_with_a_chain_is_said(
    text: str, mode: str | None, options: dict[str, str | int | float | bool], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        parse_chain(text, mode, options)


def test_only_what_a_module_can_call_is_suggested_as_a_backend() -> None:
    source = """
import torch
from elsewhere import imported as known
SIZE = 4
made = partial(known, 1)
lambdas = lambda gm, inputs: gm
if SIZE:
    def mode(gm, inputs):
        for node in gm.graph.nodes: ...
class Compiler:
    inner = known()
"""
    assert [*module_callables(ast.parse(source))] == ["known", "made", "lambdas", "mode", "Compiler"]
