"""The first line that gives a variable another value when Dynamo traces it."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from dynamo_core.capture.interventions.variable_log import (
    VariableLog,
    WritesLog,
    first_different_step,
    steps_of_call,
)

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


def module(tmp_path: Path, source: str = SOURCE) -> Any:
    path = tmp_path / "of_variables.py"
    path.write_text(source)
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


def first_place(eager: list[Any], traced: list[Any]) -> Any:
    found = first_different_step(eager, traced)
    return found and found[0]


def test_a_call_that_is_traced_otherwise_is_named(tmp_path: Path) -> None:
    step = module(tmp_path).step
    eager = of_eager(step, 3)
    assert first_place(eager, of_tracing(step, 3)) == (step.__code__.co_filename, COUNT, "")
    assert first_different_step(eager, eager) is None


def test_a_condition_and_a_variable_are_named(tmp_path: Path) -> None:
    step = module(tmp_path).step
    file = step.__code__.co_filename
    one, three, traced = of_eager(step, 1), of_eager(step, 3), of_tracing(step, 3)
    for steps in (one, three, traced):
        for each in steps:
            each[4].pop("n", None)  # the argument itself
    assert first_place(one, traced) == (file, CONDITION, "")
    other = [[*each[:4], {"count": "7"} if "count" in each[4] else each[4], *each[5:]] for each in three]
    assert first_place(other, three) == (file, COUNT, "")


RETURNS = """import torch


def first_after_a_true_one(flags):
    flags = iter(flags)
    if any(flags):
        return next(flags)
    return 0.0


def limited(x, limit):
    return min(limit, 5)


def step(x, limit):
    limit = limited(x, limit)
    factor = first_after_a_true_one([0.0, 1.0, 3.0])
    return x * factor * limit
"""


def test_an_iterator_that_is_read_otherwise_is_named(tmp_path: Path) -> None:
    step = module(tmp_path, RETURNS).step
    try:
        traced = of_tracing(step, 3)
    except torch._dynamo.exc.InternalTorchDynamoError:
        pytest.skip("this torch cannot trace such a loop")
    assert first_place(of_eager(step, 3), traced) == (step.__code__.co_filename, 6, "")


def test_a_copy_without_a_limit_is_named(tmp_path: Path) -> None:
    source = "def step(x, n):\n    kept = queue.copy()\n    kept.append(n)\n    return x * len(kept)\n"
    step = module(tmp_path, f"from collections import deque\nqueue = deque([1], maxlen=1)\n{source}").step
    first = first_different_step(of_eager(step, 2), of_tracing(step, 2))
    assert first is not None and first[0][1] == 4


def test_the_line_that_returned_another_value_is_named(tmp_path: Path) -> None:
    step = module(tmp_path, RETURNS).step
    two, three = of_eager(step, 2), of_eager(step, 3)
    for steps in (two, three):
        for each in steps:
            if each[5] in (11, 15) and not each[3]:
                each[4].pop("limit")  # the argument itself
    assert first_place(two, three) == (step.__code__.co_filename, 12, "")


def test_what_a_function_returns_may_be_looked_at_by_the_line_that_calls_it(tmp_path: Path) -> None:
    source = "limits = {'low': 0.5}\n\ndef low():\n    return limits['low']\n\n"
    step = module(tmp_path, f"{source}def step(x, n):\n    return x.clamp(low(), n)\n").step
    (returned, *_), (expected, *_) = (list(log(step, 2)[-1][4].items()) for log in (of_tracing, of_eager))
    assert returned == expected == (f"returned at 4 in {step.__code__.co_filename}", "0.5")


def test_a_number_of_numpy_is_what_dynamo_makes_of_it(tmp_path: Path) -> None:
    source = "import numpy as np\n\ndef step(x, n):\n    y = np.max(x.numpy())\n    return y\n"
    step = module(tmp_path, source).step
    eager, traced = of_eager(step, 2), of_tracing(step, 2)
    assert eager[1][4]["y"] == traced[1][4]["y"] == "numpy.ndarray of float32, [], []"


def test_what_was_traced_of_a_call_that_uses_an_entry(tmp_path: Path) -> None:
    step = module(tmp_path, SOURCE).step
    steps = of_eager(step, 3)
    other = [["/elsewhere.py", 1, "f", 0, {}, 1, 0]]
    assert steps_of_call(steps, [other, steps, other]) == [*steps, *other]
    assert steps_of_call(steps, [steps, other, steps]) == []
    assert steps_of_call(steps, [other]) == steps_of_call([], [other]) == []


def test_where_an_entry_is_stale_another_function_says_nothing() -> None:
    caller: list[Any] = ["f.py", 2, "f", 0, {}, 1, 0]
    own: list[Any] = ["f.py", 5, "g", 0, {}, 4, 1]
    other: list[Any] = ["f.py", 8, "g", 0, {}, 7, 1]
    assert first_different_step([caller, own], [caller, other]) == (("f.py", 2, ""), 1)
    assert first_different_step([caller, own], [caller, other], is_stale=True) is None


def test_where_an_entry_is_stale_the_line_that_calls_another_function_is_named() -> None:
    """What it returned goes on in a variable: it is the call's line, not one of the new function's."""
    returned, earlier = "returned at 5 in f.py", "returned at 8 in f.py"
    caller: list[Any] = ["f.py", 2, "f", 0, {}, 1, 0]
    own: list[Any] = ["f.py", 5, "g", 0, {}, 4, 1]
    other: list[Any] = ["f.py", 8, "h", 0, {}, 7, 1]
    after: list[Any] = ["f.py", 3, "f", 2, {returned: "2.0", "scale": "2.0"}, 1, 0]
    before: list[Any] = ["f.py", 3, "f", 2, {earlier: "1.0", "scale": "1.0"}, 1, 0]
    eager = [caller, own, after]
    assert first_different_step(eager, [caller, other, before], is_stale=True) == (("f.py", 2, ""), 2)
    assert first_different_step(eager, [caller, before], is_stale=True) == (("f.py", 2, ""), 2)
    same: list[Any] = ["f.py", 3, "f", 2, {returned: "1.0", "scale": "1.0"}, 1, 0]
    assert first_different_step(eager, [caller, own, same], is_stale=True) == (("f.py", 5, ""), 2)


def test_the_lines_that_write_a_value() -> None:
    values: list[int] = []

    def append(value: int) -> None:
        values.append(value)

    written = WritesLog(lambda: [*values])
    with written.of_eager():
        append(1)
    assert written.lines == [(__file__, append.__code__.co_firstlineno + 1)]


OF_ARRAYS = """import torch


class Step:
    def packed(self, table):
        return table.copy()

    def __call__(self, x, table):
        short = torch.get_autocast_dtype("cpu")
        packed = self.packed(table)
        return torch.from_numpy(packed) + x.to(short).sum()
"""


@pytest.fixture
def step_of_arrays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    made = module(tmp_path, OF_ARRAYS)
    monkeypatch.setitem(sys.modules, made.__name__, made)  # Dynamo imports it
    return made.Step()


def test_what_is_called_by_code_of_torchs_is_followed(step_of_arrays: Any) -> None:
    step = step_of_arrays
    turned: Any = np.zeros((2, 3)).T
    eager, traced = of_eager(step, turned), of_tracing(step, turned)
    assert [each[1] for each in traced][:4] == [9, 10, 6, 11] == [each[1] for each in eager][:4]
    assert eager[3][4]["packed"] == "numpy.ndarray of float64, [3, 2], [2, 1]"
    assert first_place(eager, traced)[1] == 6


def test_a_setting_of_torchs_that_is_another_one_is_named(step_of_arrays: Any) -> None:
    step = step_of_arrays
    flat: Any = np.zeros(3)
    traced = of_tracing(step, flat)
    before = torch.get_autocast_dtype("cpu")
    torch.set_autocast_dtype("cpu", torch.float16)
    try:
        assert first_place(of_eager(step, flat), traced)[1] == 9
    finally:
        torch.set_autocast_dtype("cpu", before)


def test_what_was_returned_counts_where_other_lines_follow() -> None:
    returned = "returned at 5 in f.py"
    own: list[Any] = ["f.py", 3, "f", 2, {returned: "True"}, 1, 0]
    for other in (["f.py", 4, "f", 2, {returned: "False"}, 1, 0], ["", 0, "", 0, {returned: "False"}, 0, 0]):
        assert first_different_step([own], [other]) == (("f.py", 5, ""), 0)
    assert first_different_step([own], [["", 0, "", 0, {returned: "True"}, 0, 0]]) is None


def test_a_function_that_one_side_alone_runs_is_left_out() -> None:
    """Behind it a variable has another value: that is named."""
    before: list[Any] = ["f.py", 2, "f", 0, {"rates": "dict of 1, limit None"}, 1, 0]
    inside: list[Any] = ["f.py", 8, "g", 0, {"rate": "1.0"}, 7, 1]
    own: list[Any] = ["f.py", 3, "f", 2, {"rates['first']": "0.5"}, 1, 0]
    other: list[Any] = ["f.py", 3, "f", 2, {"rates['first']": "1.0"}, 1, 0]
    assert first_different_step([before, inside, own], [before, other]) == (("f.py", 2, ""), 2)
    assert first_different_step([before, own], [before, inside, other]) == (("f.py", 2, ""), 1)
    assert first_different_step([before, inside, own], [before, own]) is None
    assert first_different_step([before, own], [before, inside]) is None
    # Dynamo traces the backward of a `torch.autograd.Function` at once; in eager it comes after the call.
    end: list[Any] = ["", 0, "", 0, {}, 0, 0]
    assert first_different_step([before, end], [before, inside, end]) is None
    ends_with_it: list[Any] = ["f.py", 10, "h", 0, {}, 9, 2]
    inside[6] = 3
    eager, traced = [before, ends_with_it, inside, own], [before, ends_with_it, other]
    assert first_different_step(eager, traced) == (("f.py", 2, ""), 3)


def test_parts_of_containers_are_known(tmp_path: Path) -> None:
    body = "    rates = {'first': 3, 'second': [n, 2]}\n    last = (x + 1, 5)\n    return x + last[1]\n"
    step = module(tmp_path, f"def step(x, n):\n{body}").step
    for steps in (of_eager(step, 3), of_tracing(step, 3)):
        variables = {name: text for each in steps for name, text in each[4].items()}
        assert variables["rates['first']"] == "3"
        assert variables["rates['second']"] == "list of 2, limit None"
        assert (variables["last[0]"], variables["last[1]"]) == ("torch.Tensor of float32, [2], [1]", "5")


GOES = """import weakref


class Space:
    pass


class Pool:
    def take(self):
        space = Space()
        self.given = weakref.ref(space)
        return space

    def is_free(self):
        return self.given() is None


def step(x, pool):
    space = pool.take()
    del space
    return x + pool.is_free()
"""


def test_an_object_that_nothing_refers_to_goes_while_lines_are_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = module(tmp_path, GOES)
    monkeypatch.setitem(sys.modules, made.__name__, made)
    steps = of_eager(made.step, made.Pool())
    returned = {text for each in steps for name, text in each[4].items() if name.startswith("returned at 15")}
    assert returned == {"True"}
    assert any(each[4].get("space") == "of_variables.Space" for each in steps)
