"""The first line that gives a variable another value when Dynamo traces it."""

import importlib.util
from pathlib import Path
from typing import Any

import torch

from dynamo_core.capture.interventions.variable_log import VariableLog, first_different_step

SOURCE = """import torch


def twice(x):
    return x * 2


@torch.compiler.substitute_in_graph(twice)
def thrice(x):
    return x * 3


def step(x, n):
    y = x + 1
    if n > 2:
        y = y * 2
    count = twice(n)
    return y * count
"""
COUNT, CONDITION = 17, 15


def module(tmp_path: Path) -> Any:
    path = tmp_path / "of_variables.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("of_variables", path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def of_eager(step: Any, n: int) -> list[Any]:
    log = VariableLog()
    with log.of_eager():
        step(torch.ones(2), n)
    return log.steps


def of_tracing(step: Any, n: int) -> list[Any]:
    log = VariableLog()
    torch._dynamo.reset()
    compiled: Any = torch.compile(step, backend="eager")
    with log.of_tracing():
        compiled(torch.ones(2), n)
    return log.steps


def test_a_call_that_is_traced_otherwise_is_named(tmp_path: Path) -> None:
    step = module(tmp_path).step
    eager = of_eager(step, 3)
    assert first_different_step(eager, of_tracing(step, 3)) == (step.__code__.co_filename, COUNT, "")
    assert first_different_step(eager, eager) is None


def test_a_condition_and_a_variable_are_named(tmp_path: Path) -> None:
    step = module(tmp_path).step
    file = step.__code__.co_filename
    one, three, traced = of_eager(step, 1), of_eager(step, 3), of_tracing(step, 3)
    for steps in (one, three, traced):
        for each in steps:
            each[4].pop("n", None)  # the argument itself
    assert first_different_step(one, traced) == (file, CONDITION, "")
    other = [[*each[:4], {"count": "7"} if "count" in each[4] else each[4], each[5]] for each in three]
    assert first_different_step(other, three) == (file, COUNT, "")
