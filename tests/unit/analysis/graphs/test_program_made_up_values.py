"""What a graph's inputs are filled with outside of its program."""

from dynamo_core.analysis.graphs.program import index_ranges, symbolic_dimensions, value_calls
from dynamo_core.model import Node, TensorInfo


def placeholder(name: str, *shape: int | str, dtype: str = "float32", **more: object) -> Node:
    tensor = TensorInfo(shape, tuple(1 for _ in shape), dtype, "cpu")
    return Node("placeholder", name, name, "()", "{}", (), (tensor,), **more)  # type: ignore[arg-type]


def call(name: str, target: str, *inputs: str, shape: tuple[int, ...] = ()) -> Node:
    tensors = (TensorInfo(shape, None, "float32", "cpu"),) if shape else ()
    return Node("call_function", name, target, "()", "{}", inputs, tensors)


def test_indices_are_in_the_range_of_what_they_look_up() -> None:
    nodes = [
        placeholder("tokens", 2, 3, dtype="int64"),
        placeholder("table", 100, 16),
        placeholder("classes", 6, dtype="int64"),
        placeholder("other", 6, dtype="int64"),
        call("flat", "torch.flatten", "tokens"),
        call("found", "torch.nn.functional.embedding", "flat", "table", shape=(6, 16)),
        call("logits", "torch.nn.functional.linear", "found", "table", shape=(6, 10)),
        call("loss", "torch.nn.functional.cross_entropy", "logits", "classes"),
    ]
    ranges = index_ranges(nodes)
    assert ranges == {"tokens": 100, "classes": 10}
    assert [value_calls(node, ranges) for node in (nodes[0], nodes[2], nodes[3])] == [
        ".random_(0, 100)",
        ".random_(0, 10)",
        "",
    ]


def test_weights_are_as_layers_are_initialised_and_variances_positive() -> None:
    assert value_calls(placeholder("w", 8, 16, is_parameter=True), {}) == ".div_(4)"
    assert value_calls(placeholder("b", 8, is_parameter=True), {}) == ""
    assert value_calls(placeholder("x", 8, 16), {}) == ""
    variance = placeholder("v", 8, source="L['self']._buffers['running_var']")
    assert value_calls(variance, {}) == ".abs_()"
    expanded = Node("placeholder", "m", "m", "()", "{}", (), (TensorInfo((4,), (0,), "bool", "cpu"),))
    assert value_calls(expanded, {}) == ""
    assert value_calls(placeholder("mask", 4, dtype="bool"), {}) == ".random_(0, 2)"


def test_symbolic_dimensions_by_input() -> None:
    size = Node("placeholder", "s77", "s77", "()", "{}", (), (), "s77")
    nodes = [size, placeholder("x", "s77", 4), placeholder("w", 4)]
    assert symbolic_dimensions(nodes) == {"s77": (), "x": (0,)}
