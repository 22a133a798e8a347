"""Which line of a function a value comes from."""

from pathlib import Path

import pytest

from dynamo_core.capture.interventions.source_of_value import (
    condition_between,
    line_of_returned,
    line_of_source,
)

SOURCE = """def step(x, settings):
    calls = int(settings["calls"]) + 1
    again = calls
    for name, value in settings.items():
        x = x * value
    entries = {}
    entries["a"] = calls
    x = x + len(entries)
    x = x * settings.scale
    before = x._version
    if calls:
        x = x - 1
    return x, before
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "step.py"
    path.write_text(SOURCE)
    return str(path)


@pytest.mark.parametrize(
    ("line", "names", "source"),
    [
        (5, ["value", "name"], 4),  # the variable of a loop
        (8, ["entries"], 7),  # what was last put into a dictionary
        (3, ["calls"], 2),
        (9, ["settings"], 9),  # an attribute is the source itself
        (5, [], 5),  # tensors alone
        (99, ["calls"], 99),
    ],
)
def test_line_that_a_value_comes_from(file: str, line: int, names: list[str], source: int) -> None:
    assert line_of_source(file, line, names) == source


@pytest.mark.parametrize(("path", "line"), [("[1]", 10), ("[0]", 12), ("", 13), ("[7]", 13), ("['a']", 13)])
def test_line_of_a_part_of_what_is_returned(file: str, path: str, line: int) -> None:
    assert line_of_returned(file, 13, path) == line


def test_condition_that_decides_between_lines(file: str) -> None:
    assert condition_between(file, 12, 13) == 11
    assert condition_between(file, 5, 8) is None


def test_condition_behind_which_one_alone_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "left_early.py"
    file.write_text(
        "def f(x, n):\n    y = x + 1\n    if n:\n        return y\n    y = y * 2\n    return y + 3\n"
    )
    assert condition_between(str(file), None, 5, before=2) == 3
    assert condition_between(str(file), 6, None, before=5) is None  # both have passed the condition


def test_a_file_that_is_not_there() -> None:
    assert line_of_source("/nowhere.py", 3, ["x"]) == 3
    assert condition_between("/nowhere.py", 3, 4) is None
