"""A script that is made smaller."""

from collections.abc import Callable
from typing import Any

from dynamo_core.repro.failure import Failure
from dynamo_core.repro.source_program import (
    SourceShrinker,
    source_text,
    with_assertion,
    with_compile_argument,
    with_compiled_functions,
    with_double_quotes,
    with_prints,
)
from support.fake_trials import FakeTrials

RAISED = Failure("exception", "Unsupported", "print")
TEXT = '''
"""What the user's project is about."""
import json
import torch

CUSTOMERS = ["a secret"]


class Model(torch.nn.Module):
    def forward(self, rows):
        """Also theirs."""
        if rows.sum() > 0:
            rows = rows + 1  # theirs, too
        print(rows)
        return torch.relu(rows)


model = torch.compile(Model(), dynamic=True)
for step in range(10):
    loss = model(torch.ones(64, 64))
json.dumps({})
'''


def shrunk(text: str, fails: Callable[[str], bool]) -> str:
    trials: Any = FakeTrials(fails)
    shrinker = SourceShrinker(source_text(text), RAISED, trials, lambda program: None)
    shrinker.shrink()
    shrinker.rename()
    return shrinker.program


def test_only_what_fails_is_left() -> None:
    text = shrunk(TEXT, lambda text: "print(" in text and "torch.compile(" in text and "forward" in text)
    assert len([line for line in text.splitlines() if line]) <= 4
    assert "secret" not in text
    assert "json" not in text
    assert "Model" not in text
    assert "for " not in text


def test_comments_and_docstrings_go() -> None:
    text = source_text(TEXT)
    assert "theirs" not in text
    assert "project" not in text


def test_attributes_are_renamed_where_it_still_fails() -> None:
    text = "class A:\n    def f(self, x):\n        self.theirs = x\n        return self.theirs\n"
    assert "theirs" not in shrunk(text, lambda text: text.count("self.") == 2)
    assert "self.theirs" in shrunk(text, lambda text: text.count("self.theirs") == 2)


def test_large_numbers_become_small() -> None:
    assert "64" not in shrunk(TEXT, lambda text: "torch.ones(" in text)


def test_argument_of_torch_compile() -> None:
    text = (
        "import torch\n\n@torch.compile\ndef f(x):\n    return x\ng = torch.compile(f, backend='inductor')\n"
    )
    changed = with_compile_argument(text, "backend", "eager")
    assert changed is not None
    assert changed.count('backend="eager"') == 2
    assert "inductor" not in changed
    assert with_compile_argument("import torch\n", "backend", "eager") is None


def test_what_was_captured_is_compiled_by_the_program_itself() -> None:
    text = "def f(x):\n    return x\n\n@staticmethod\ndef g(x):\n    return x\n\ndef h(x):\n    return x\n"
    assert with_compiled_functions(text, {1, 4}).count("@torch.compile\ndef") == 2
    assert "@staticmethod\n@torch.compile\ndef g" in with_compiled_functions(text, {5})
    assert with_compiled_functions(text, {1}).startswith("import torch\n")
    top = '"""What it is."""\nfrom __future__ import annotations\n'
    compiled = with_compiled_functions(top + text, {3})
    assert compiled.startswith(f"{top}import torch\n")
    assert "What it is" not in source_text(compiled)


def test_prints() -> None:
    text = with_prints("import torch\ny = f(1)\nf(2)\nprint(3)\nz = 4\n")
    assert text == "import torch\ny = f(1)\nprint(y)\nprint(f(2))\nprint(3)\nz = 4\n"


def test_assertions() -> None:
    for printed, wanted in {
        "2": "assert f(x) == 2",
        "True": "assert f(x) == True",
        "0.25": "assert abs(f(x) - 0.25) < 0.01",
        "tensor([2., 2.])": "got = f(x)\n"
        "torch.testing.assert_close(got, torch.tensor([2., 2.]), rtol=0.01, atol=0.01)",
        "tensor([nan, inf])": "got = f(x)\ntorch.testing.assert_close("
        "got, torch.tensor([torch.nan, torch.inf]), rtol=0.01, atol=0.01, equal_nan=True)",
        "<class 'int'>": "assert str(f(x)) == \"<class 'int'>\"",
    }.items():
        assert with_assertion("print(f(x))\n", f"{printed}\n") == f"{wanted}\n".replace("2., 2.", "2.0, 2.0")


def test_double_quotes() -> None:
    text = "f('a', 'b\"', \"c\")  # it's\ng(x='d')\n"
    assert with_double_quotes(text) == 'f("a", \'b"\', "c")  # it\'s\ng(x="d")\n'


def test_no_assertion_of_several_prints() -> None:
    assert with_assertion("print(1)\nprint(2)\n", "1\n2\n") is None
