"""Whether a program's own code calls torch.compile, as far as its text can tell."""

import pytest

from dynamo_core.capture.program_files import place_of_compile_call


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("import torch\nmodel = torch.compile(model)", 2),
        ("import torch\n@torch.compile\ndef f(x): ...", 2),
        ("import torch\n@torch.compile(backend='eager')\ndef f(x): ...", 2),
        ("from torch import compile as tc\nf = tc(f)", 2),
        ("import torch as t\nf = t.compile(f)", 2),
        ("import torch\ndef main():\n    f = torch.compile(g)\nmain()", 3),
        ("import torch\nif __name__ == '__main__':\n    f = torch.compile(g)", 3),
        ("import torch\nif flag:\n    f = torch.compile(f)", None),
        ("import torch\nf = torch.compile(f) if flag else f", None),
        ("import re\nre.compile('x')", None),
        ("# torch.compile(f)\n'torch.compile'", None),
        ("compile this is no python", None),
        ("", None),
    ],
)
def test_unconditional_calls(text: str, line: int | None) -> None:
    expected = None if line is None else f"x.py:{line}"
    assert place_of_compile_call(text, "x.py") == expected
