"""The first line at which captured operations are not eager's."""

from pathlib import Path
from typing import Any

import pytest
import torch

from dynamo_core.capture.interventions.fork_server import NoAnswer
from dynamo_core.capture.interventions.operation_log import (
    OperationLog,
    first_cast_to_short,
    first_different_line,
    first_write_to,
    last_operation_on,
    memory_of,
)
from dynamo_core.capture.interventions.state_difference import Difference
from dynamo_core.capture.interventions.wrong_place import place_of

SOURCE = """def f(x, flag):
    y = x + 1
    if flag:
        y = y * 2
    else:
        y = y - 2
    return y.sum()
"""


def operation(file: str, line: int, name: str, total: float | None = 1.0, dtype: str = "") -> list[Any]:
    return [file, line, name, total, dtype, None, [], [(file, line)], 0]


def first_line(eager: list[Any], captured: list[Any]) -> Any:
    found = first_different_line(eager, captured)
    return found and found[0]


def never(_: str) -> bool:
    return False


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "f.py"
    path.write_text(SOURCE)
    return str(path)


def test_operations_of_different_branches_are_put_down_to_the_condition(file: str) -> None:
    eager = [operation(file, 2, "add"), operation(file, 4, "mul"), operation(file, 7, "sum")]
    traced = [operation(file, 2, "add"), operation(file, 6, "sub"), operation(file, 7, "sum")]
    assert first_line(eager, traced) == (file, 3, "mul")


def test_lines_in_other_words_before_one_that_is_not(file: str) -> None:
    eager = [operation(file, 2, "detach"), operation(file, 7, "lift_fresh")]
    assert first_line(eager, [operation(file, 2, "view")]) == (file, 7, "lift_fresh")


def test_what_numpy_does_in_eager_is_no_operation() -> None:
    import numpy as np

    def f(x: Any) -> Any:
        return torch.as_tensor(np.log1p(x.numpy()) / 2)

    log = OperationLog()
    torch._dynamo.reset()
    torch.compile(f, backend=log.backend)(torch.ones(2))
    assert [each[2] for each in log.operations] == ["view.default"]
    assert "log1p.default" in [each[2] for each in log.with_numpy]


def test_a_line_that_gives_the_same_by_other_operations_is_alike(file: str) -> None:
    last, other = operation(file, 7, "sum"), operation(file, 7, "sum", 2.0)
    eager = [operation(file, 2, "unbind"), operation(file, 4, "mul"), last]
    selects = [operation(file, 2, "select"), operation(file, 2, "select", 3.0)]
    assert first_line(eager, [*selects, operation(file, 4, "mul"), last]) is None
    assert first_line(eager, [*selects, operation(file, 4, "mul"), other]) == (file, 7, "sum")
    assert first_line(eager, [*selects[1:], operation(file, 4, "mul"), last]) == (file, 2, "unbind")


def test_an_operation_that_is_missing(file: str) -> None:
    eager = [operation(file, 2, "add"), operation(file, 7, "sum")]
    assert first_line(eager, eager[:1]) == (file, 7, "sum")
    assert first_line(eager[:1], eager) == (file, 7, "sum")


def test_equal_operations_that_give_other_values(file: str) -> None:
    eager = [operation(file, 2, "add", 1.0), operation(file, 7, "sum", 3.0)]
    assert first_line(eager, [operation(file, 2, "add", 1.0), operation(file, 7, "sum", 5.0)]) == (
        file,
        7,
        "sum",
    )
    nearly = [operation(file, 2, "add", 1.0001), operation(file, 7, "sum", None)]
    assert first_line(eager, nearly) is None


def test_the_first_operation_that_writes_an_input() -> None:
    x, y, other = torch.ones(4), torch.ones(4), torch.ones(4)
    log = OperationLog()
    with log.mode():
        other.add_(1)
        x + y
        x.mul_(2)
    found = first_write_to(log.operations, [memory_of(x), None, memory_of(y)])
    assert found is not None and found[2] == "mul_.Tensor"
    assert first_write_to(log.operations, [memory_of(y)]) is None


def test_the_first_cast_to_a_short_dtype(file: str) -> None:
    operations = [
        operation(file, 1, "_to_copy.default", 1.0, "torch.float64"),
        operation(file, 2, "_to_copy.default", 1.0, "torch.bfloat16"),
    ]
    assert first_cast_to_short(operations) == (file, 2, "_to_copy.default")
    assert first_cast_to_short(operations[:1]) is None


def test_a_backend_notes_the_same_lines_as_a_call_in_eager() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        return y.sum()

    eager, traced = OperationLog(), OperationLog()
    x = torch.ones(3)
    with eager.mode():
        f(x)
    torch._dynamo.reset()
    torch.compile(f, backend=traced.backend)(x)
    torch._dynamo.reset()
    line = f.__code__.co_firstlineno
    assert [each[:3] for each in eager.operations] == [
        [__file__, line + 1, "add.Tensor"],
        [__file__, line + 2, "sum.default"],
    ]
    assert [each[:5] for each in traced.operations] == [each[:5] for each in eager.operations]


def test_the_last_operation_that_made_or_wrote_a_tensor() -> None:
    log = OperationLog()
    x = torch.ones(4)
    with log.mode():
        y = x + 1
        y[:2].mul_(2)
        part = y[:2]
    line = test_the_last_operation_that_made_or_wrote_a_tensor.__code__.co_firstlineno

    def last(value: Any, *, writes: bool) -> list[Any]:
        index = last_operation_on(log.operations, memory_of(value), writes=writes)
        return [] if index is None else log.operations[index][:3]

    assert last(y, writes=True) == [__file__, line + 5, "mul_.Tensor"]
    assert last(y, writes=False) == [__file__, line + 4, "add.Tensor"]
    assert last(part, writes=False) == [__file__, line + 6, "slice.Tensor"]
    assert last(x, writes=False) == []
    assert last_operation_on(log.operations, None, writes=False) is None


def test_an_operator_without_a_result_is_noted_with_what_it_writes() -> None:
    @torch.library.custom_op("notes::fill", mutates_args=("target",))
    def fill(source: torch.Tensor, target: torch.Tensor) -> None:
        target.copy_(source)

    log, x = OperationLog(), torch.zeros(2)
    with log.mode():
        fill(torch.ones(2), x)
    index = last_operation_on(log.operations, memory_of(x), writes=True)
    assert index is not None and log.operations[index][2] == "notes.fill.default"


def test_an_operator_is_noted_with_what_it_writes_undeclared() -> None:
    @torch.library.custom_op("notes::sum_into", mutates_args=())
    def sum_into(source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        target.copy_(source)
        return source.sum()

    log, x = OperationLog(), torch.zeros(2)
    with log.mode():
        sum_into(torch.ones(2), x)
    index = last_operation_on(log.operations, memory_of(x), writes=True)
    assert index is not None and log.operations[index][2] == "notes.sum_into.default"


def test_a_function_that_is_left_early_is_put_down_to_the_condition(tmp_path: Path) -> None:
    path = tmp_path / "left_early.py"
    path.write_text(
        "def f(x, n):\n    x = x + 1\n    if n:\n        return x\n    return x * 2\n\n\n"
        "def g(x):\n    return f(x, 1) - 3\n"
    )
    file = str(path)
    inside = [
        [*operation(file, line, name)[:7], [(file, 9), (file, line)], 0]
        for line, name in ((2, "add"), (5, "mul"))
    ]
    outside = operation(file, 9, "sub")
    assert first_line([inside[0], outside], [*inside, outside]) == (file, 3, "mul")
    assert first_line([*inside, outside], [inside[0], outside]) == (file, 3, "mul")


def test_equal_operations_that_give_other_shapes(file: str) -> None:
    eager, traced = ([[*operation(file, 2, "pad")[:5], [1, 0, [n], [1]], [], [(file, 2)], 0]] for n in (2, 3))
    assert first_line(eager, traced) == (file, 2, "pad")


def test_of_several_values_that_differ_it_is_the_operation_of_the_earliest(file: str) -> None:
    operations = [operation(file, 2, "add_"), operation(file, 7, "sum")]
    operations[0][5], operations[1][4:6] = [1], ["torch.float32", [2]]
    eager = {"operations": operations, "memory": {"args[0]": [1], "result": [2]}, "returned": []}
    wrong = [Difference("value", "result", ""), Difference("mutation", "args[0]", "")]
    assert place_of(wrong, None, lambda _: eager, never) == (file, 2, "add_")
    assert place_of(wrong[:1], None, lambda _: eager, never) == (file, 7, "sum")


def test_an_operation_of_a_function_that_was_not_captured_is_put_down_to_its_call(file: str) -> None:
    inside = ["/elsewhere.py", 3, "mul", 5.0, "", None, [], [(file, 2), ("/elsewhere.py", 3)], 0]
    captured = [operation(file, 2, "add"), operation(file, 7, "sum")]
    assert first_line([inside, operation(file, 7, "sum")], captured) == (file, 2, "mul")
    alone = ["/elsewhere.py", 3, "mul", 5.0, "", None, [], [("/elsewhere.py", 3)], 0]
    assert first_line([alone], captured) == ("", 0, "mul")


def test_operations_in_another_order_are_put_down_to_the_loop(tmp_path: Path) -> None:
    path = tmp_path / "f.py"
    path.write_text("def f(x):\n    for value in values:\n        x = x * value if value else x + 1\n")
    add, mul = (
        [str(path), 3, name, 1.0, "", None, names, [(str(path), 3)], 0]
        for name, names in (("add", ["value"]), ("mul", ["value"]))
    )
    assert first_line([add, mul], [mul, add]) == (str(path), 2, "mul")


OWN_BACKWARD = """class Straight(torch.autograd.Function):
    def forward(x):
        return x.round()
    def backward(ctx, grad):
        return grad * 7
def loss(x):
    return Straight.apply(x).sum()
"""


def test_an_operation_of_a_backward_is_put_down_to_the_call_of_its_class(tmp_path: Path) -> None:
    path = tmp_path / "f.py"
    path.write_text(OWN_BACKWARD)
    file = str(path)
    forward = [file, 3, "round", 1.0, "", None, [], [(file, 7), (file, 3)], 0]
    backward = operation(file, 5, "mul")
    assert first_line([forward, backward], [forward]) == (file, 7, "mul")
    assert first_line([backward], [forward]) == ("", 0, "mul")


def test_the_one_line_that_changes_an_object_of_pythons_is_named(tmp_path: Path) -> None:
    path = tmp_path / "f.py"
    path.write_text("def f(x):\n    self.seen = []\n    self.seen.append(1)\n    return x + 1\n")
    file = str(path)
    eager = {"operations": [operation(file, 4, "add")], "memory": {}, "returned": [], "steps": []}
    missing = Difference("mutation", "self.seen[0]", "missing")

    def lines(which: str) -> dict[str, Any]:
        return {"operations": written} if which.startswith("writes") else {**eager, "place": None}

    written: list[tuple[str, int]] = [(file, 2), (file, 3)]
    assert place_of([missing], "tracing", lines, never) == (file, 3, "")  # by the syntax
    written = [(file, 2), (file, 2)]
    assert place_of([missing], "tracing", lines, never) == (file, 2, "")


def test_where_the_lines_of_a_call_take_too_long_the_first_wrong_operation_is_named(tmp_path: Path) -> None:
    path = tmp_path / "f.py"
    path.write_text(SOURCE)
    file = str(path)
    eager = {
        "operations": [operation(file, 4, "mul", 2.0)],
        "memory": {"result": [1]},
        "returned": [],
        "steps": [],
    }
    traced = {"operations": [operation(file, 4, "mul", 3.0)]}

    def lines(which: str) -> dict[str, Any]:
        if which.startswith("steps"):
            raise NoAnswer("it took too long")
        if which.startswith("alone"):
            return {"place": None}
        return traced if which else eager

    assert place_of([Difference("value", "result", "")], "tracing", lines, never) == (file, 4, "mul")


def test_an_operation_in_none_of_the_programs_lines_has_no_place() -> None:
    """A module of torch's alone is compiled: whatever the log names, it is no line."""
    made = ["", 0, "addmm", 1.0, "", [1], [], [], 0]
    eager: dict[str, Any] = {"operations": [made], "memory": {"result": [1]}, "returned": []}
    wrong = Difference("value", "result", "")
    assert place_of([wrong], None, lambda _: eager, never) is None
    alone = {"place": ["", 0, "gelu", True], "operations": []}
    assert place_of([wrong], "own", lambda which: alone if which else eager, never) is None


@pytest.mark.parametrize(("kind", "line"), [("value", 4), ("aliasing", 2)])
def test_what_only_shares_memory_is_not_named_for_another_value(file: str, kind: str, line: int) -> None:
    operations = [operation(file, at, name, 2.0, "torch.float32") for at, name in ((2, "mul"), (4, "clamp"))]
    eager = {"operations": operations, "memory": {}, "returned": [], "steps": []}
    alone = {**eager, "place": [file, 2, "mul", False]}
    wrong_with_all = [Difference(kind, "result", "")]
    found = place_of(
        wrong_with_all, "own", lambda which: alone if which else eager, lambda name: name[-1] == "2"
    )
    assert found is not None and found[1] == line


def test_an_operation_that_tracing_expects_something_else_of_is_named_before_what_differs(file: str) -> None:
    eager = {"operations": [operation(file, 4, "mul", 2.0)], "memory": {}, "returned": [], "steps": []}
    answers: dict[str, dict[str, Any]] = {"": eager, "alone with eager": {"place": [file, 2, "padded", True]}}
    wrong = Difference("value", "result", "")
    assert place_of([wrong], "tracing", answers.__getitem__, never) == (file, 2, "padded")


def test_the_first_operation_that_reads_what_is_folded_is_named(file: str) -> None:
    def eager(second: float) -> dict[str, Any]:
        operations = [operation(file, 2, "add"), operation(file, 4, "mul", second)]
        return {"operations": operations, "memory": {}, "returned": [], "steps": [], "steps of the entry": []}

    other = eager(3.0)

    def lines(which: str) -> dict[str, Any]:
        return other if which.startswith("with other values") else eager(2.0)

    wrong = Difference("value", "result", "")
    assert place_of([wrong], "guards", lines, never) == (file, 4, "mul")

    def of_backend(which: str) -> dict[str, Any]:
        return {"place": None} if which.startswith("alone") else lines(which)

    assert place_of([wrong], "own", of_backend, never) == (file, 4, "mul")
    other = {"operations": []}  # nothing is folded
    assert place_of([wrong], "guards", lines, never) is None


def test_a_gradient_of_a_result_is_put_down_to_what_made_the_result(file: str) -> None:
    made = [*operation(file, 2, "tanh")[:5], [1], [], [(file, 2)], 0]
    eager = {"operations": [made, operation(file, 4, "mul")], "memory": {"result[0]": [1]}}
    wrong = Difference("gradient", "gradient of result[0]", "")
    assert place_of([wrong], "AOTAutograd", {"": eager}.__getitem__, never) == (file, 2, "")
