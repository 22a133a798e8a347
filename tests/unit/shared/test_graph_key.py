"""A graph's key: what changes it, and what does not."""

from typing import Any

import torch

from dynamo_core.capture.probes.graphs import torch_modes
from dynamo_core.shared.graph_key import graph_key

MODES = {"grad_enabled": True, "autocast": {}}


def placeholder(name: str, *shape: int | str, **more: Any) -> dict[str, Any]:
    described = {"shape": list(shape), "stride": [1] * len(shape), "dtype": "float32", "device": "cpu"}
    return node("placeholder", name, name, "()") | described | more


def node(op: str, name: str, target: str, args: str, kwargs: str = "{}") -> dict[str, Any]:
    return {"op": op, "name": name, "target": target, "args": args, "kwargs": kwargs, "inputs": []}


def graph(x: str = "l_x_", size: str = "s77", constant: int = 2, at: str = "0x7f01") -> list[dict[str, Any]]:
    return [
        placeholder(x, size, 4, source=f"L['{x}']", file=f"{x}.py"),
        node("call_function", f"{x}_add", "operator.add", f"({x}, {constant})"),
        node("call_function", "f", f"<function f at {at}>", f"({x}_add, '{at}')"),
        node("output", "output", "output", f"(({x}_add,),)"),
    ]


def test_names_addresses_and_places_do_not_matter() -> None:
    key = graph_key(graph(), MODES)
    assert graph_key(graph("l_other_", "s12", at="0x55aa"), MODES) == key
    assert len(key) == 24


def test_what_is_computed_matters() -> None:
    key = graph_key(graph(), MODES)
    others = [
        graph_key(graph(constant=3), MODES),
        graph_key(graph(size="8"), MODES),
        graph_key(graph(), MODES | {"grad_enabled": False}),
        graph_key([placeholder("l_x_", "s77", 4, dtype="float64"), *graph()[1:]], MODES),
        graph_key([placeholder("l_x_", "s77", 4, requires_grad=True), *graph()[1:]], MODES),
    ]
    assert len({key, *others}) == 6


def test_which_sizes_are_the_same_symbol_matters() -> None:
    alike = [placeholder("a", "s1", "s1"), placeholder("b", "s1")]
    apart = [placeholder("a", "s1", "s1"), placeholder("b", "s2")]
    renamed = [placeholder("a", "s5", "s5"), placeholder("b", "s3")]
    assert graph_key(alike, MODES) != graph_key(apart, MODES)
    assert graph_key(apart, MODES) == graph_key(renamed, MODES)


def test_a_nested_graph_matters() -> None:
    def owner(body: str) -> list[dict[str, Any]]:
        return [node("get_attr", "body", "wrap_body_0", "()") | {"subgraph": body}]

    assert graph_key(owner("a1"), MODES) != graph_key(owner("b2"), MODES)


def test_settings_of_torch_are_part_of_it() -> None:
    gm = torch.fx.symbolic_trace(lambda x: x + torch.ones(3))
    keys = [graph_key(graph(), torch_modes(gm))]
    with torch.no_grad():
        keys.append(graph_key(graph(), torch_modes(gm)))
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        keys.append(graph_key(graph(), torch_modes(gm)))
    finally:
        torch.set_default_dtype(default)
    assert len(set(keys)) == 3
    assert graph_key(graph(), torch_modes(gm)) == keys[0]
