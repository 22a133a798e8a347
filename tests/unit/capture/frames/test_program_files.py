"""Whether a program's own code calls torch.compile, as far as its text can tell."""

import json

import pytest

from dynamo_core.capture.frames.program_files import CompileCalls, is_own, place_of_compile_call


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
        ("import torch\ndef maybe(m):\n    return torch.compile(m)\nif flag:\n    maybe(m)", None),
        ("import torch\ndef maybe(m):\n    return torch.compile(m)", None),
        ("import torch\ndef main():\n    work()\ndef work():\n    torch.compile(f)\nrun(main)", 5),
        ("import torch\nclass A:\n    def b(self):\n        torch.compile(f)\nA().b()", 4),
        ("import torch\nflag and torch.compile(f)", None),
        ("import torch\nwhile flag:\n    torch.compile(f)", None),
        ("import torch\ntry:\n    f()\nexcept E:\n    torch.compile(f)", None),
        ("import torch\nx = '\\d'\nmodel = torch.compile(model)", 3),
        ("import re\nre.compile('x')", None),
        ("# torch.compile(f)\n'torch.compile'", None),
        ("compile this is no python", None),
        ("", None),
    ],
)
def test_unconditional_calls(text: str, line: int | None) -> None:
    expected = None if line is None else f"x.py:{line}"
    assert place_of_compile_call(text, "x.py") == expected


FIT = "import torch\ndef fit(m):\n    return torch.compile(m)"


@pytest.mark.parametrize(
    ("main", "is_reached"),
    [
        ("from fitting import fit\ndef main():\n    fit(model)\nmain()", True),
        ("from fitting import fit as train\ntrain(model)", True),
        ("import fitting\nfitting.fit(model)", True),
        ("from fitting import fit", False),
        ("from fitting import fit\nif flag:\n    fit(model)", False),
        ("import other\nmodel.fit()", False),
        ("from fitting import other\nother()", False),
    ],
)
def test_a_function_is_reached_from_a_file_that_imports_it(main: str, is_reached: bool) -> None:
    expected = "fitting.py:3" if is_reached else None
    assert CompileCalls().place_in({"main.py": main, "fitting.py": FIT}) == expected
    in_turn = CompileCalls()
    assert in_turn.place_in({"main.py": main}) is None
    assert in_turn.place_in({"fitting.py": FIT}) == expected


@pytest.mark.parametrize(
    ("file", "own"),
    [
        ("/home/me/train.py", True),
        ("/home/me/lib/python3.11/site-packages/timm/x.py", False),
        ("/usr/lib/python3/dist-packages/numpy/x.py", False),
        (pytest.__file__.replace("pytest", "other"), False),
        (json.__file__, False),
        ("<stdin>", True),
        ("<frozen importlib._bootstrap>", False),
    ],
)
def test_installed_packages_and_pythons_own_files_are_not_the_programs(file: str, own: bool) -> None:
    assert is_own(file) is own
