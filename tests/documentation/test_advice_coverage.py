"""docs/advice.md counts the advice for the installed torch, and names every way to change a compile."""

import re
from importlib.metadata import version
from pathlib import Path

import pytest
from advice_coverage import table

REPOSITORY = Path(__file__).resolve().parent.parent.parent
PAGE = (REPOSITORY / "docs" / "advice.md").read_text(encoding="utf-8")
ADVISED = "\n".join(
    file.read_text(encoding="utf-8")
    for room in ("remedies", "findings")
    for file in (REPOSITORY / "core" / "dynamo_core" / room).glob("*.py")
)


@pytest.mark.skipif(
    f"torch {version('torch').partition('+')[0]} " not in PAGE, reason="the page is of another torch"
)
def test_the_counts_are_those_of_the_installed_torch() -> None:
    assert [line for line in PAGE.splitlines() if re.match(r"\| [a-z ]+ \| \d", line)] == table()


def test_every_argument_of_torch_compile_and_function_of_torch_compiler_has_a_word() -> None:
    import inspect

    import torch

    described = dict(re.findall(r"^\| `(\w+)`[^|]* \| (.+) \|$", PAGE, re.MULTILINE))
    known = {*inspect.signature(torch.compile).parameters, *torch.compiler.__all__}
    assert known <= described.keys(), "each needs a row"
    for name, word in described.items():
        if word.startswith("remedy"):
            assert re.search(rf"\b{name}\b", ADVISED), f"no remedy names {name}"
        else:
            assert word.startswith("not advised: "), name
