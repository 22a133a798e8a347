"""The first line at which captured operations are not eager's."""

from pathlib import Path
from typing import Any

import pytest
import torch

from dynamo_core.capture.interventions.operation_log import (
    OperationLog,
    first_cast_to_short,
    first_different_line,
)

SOURCE = """def f(x, flag):
    y = x + 1
    if flag:
        y = y * 2
    else:
        y = y - 2
    return y.sum()
"""


def operation(file: str, line: int, name: str, total: float | None = 1.0, dtype: str = "") -> list[Any]:
    return [file, line, name, total, dtype]


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "f.py"
    path.write_text(SOURCE)
    return str(path)


def test_operations_of_different_branches_are_put_down_to_the_condition(file: str) -> None:
    eager = [operation(file, 2, "add"), operation(file, 4, "mul"), operation(file, 7, "sum")]
    traced = [operation(file, 2, "add"), operation(file, 6, "sub"), operation(file, 7, "sum")]
    assert first_different_line(eager, traced) == (file, 3, "mul")


def test_an_operation_that_is_missing(file: str) -> None:
    eager = [operation(file, 2, "add"), operation(file, 7, "sum")]
    assert first_different_line(eager, eager[:1]) == (file, 7, "sum")
    assert first_different_line(eager[:1], eager) == (file, 7, "sum")


def test_equal_operations_that_give_other_values(file: str) -> None:
    eager = [operation(file, 2, "add", 1.0), operation(file, 7, "sum", 3.0)]
    assert first_different_line(eager, [operation(file, 2, "add", 1.0), operation(file, 7, "sum", 5.0)]) == (
        file,
        7,
        "sum",
    )
    nearly = [operation(file, 2, "add", 1.0001), operation(file, 7, "sum", None)]
    assert first_different_line(eager, nearly) is None


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
    assert traced.operations == eager.operations
