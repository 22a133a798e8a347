"""The definition of a backend, taken out of the user's files."""

from pathlib import Path

import pytest

from dynamo_core.model import OperatorSource, Place
from dynamo_core.repro.definitions import backend_of_file, backend_text, operator_texts

SCRIPT = """
import sys
import torch
from torch._dynamo import register_backend

SCALE = 2.0
UNUSED = 3


def scaled(value):
    return value * SCALE


def mine(gm, inputs):
    return lambda *args: tuple(scaled(each) for each in gm(*args))


def main():
    torch.compile(torch.sin, backend=mine)(torch.ones(2))


main()
"""


def test_definition_with_what_it_needs(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    found = backend_text("mine", script, [str(tmp_path)])
    assert found is not None
    assert found.argument == "mine"
    assert [each.splitlines()[0] for each in found.statements] == [
        *("SCALE = 2.0", "def scaled(value):", "def mine(gm, inputs):"),
    ]


def test_definition_in_a_module_beside_the_script(tmp_path: Path) -> None:
    (tmp_path / "ours.py").write_text(SCRIPT.partition("def main")[0])
    script = tmp_path / "train.py"
    script.write_text("import torch\nfrom ours import mine\ntorch.compile(torch.sin, backend=mine)\n")
    found = backend_text("mine", script, [str(tmp_path)])
    assert found is not None
    assert found.statements[-1].startswith("def mine(")
    assert not any("ours" in each for each in found.statements)


def test_definition_that_is_an_attribute_of_a_module_beside_the_script(tmp_path: Path) -> None:
    (tmp_path / "ours.py").write_text(SCRIPT.partition("def main")[0])
    script = tmp_path / "train.py"
    for backend in ("ours.mine", "getattr(ours, choice())"):
        script.write_text(f"import torch\nimport ours\ntorch.compile(torch.sin, backend={backend})\n")
        found = backend_text("mine", script, [str(tmp_path)])
        assert found is not None
        assert found.argument == "mine"
        assert found.statements[-1].startswith("def mine(")


def test_backend_that_a_variable_of_a_function_holds(tmp_path: Path) -> None:
    (tmp_path / "ours.py").write_text(SCRIPT.partition("def main")[0])
    script = tmp_path / "train.py"
    use = """
def main(name):
    back = getattr(ours, name)
    torch.compile(torch.sin, backend=back)
"""
    script.write_text(f"import torch\nimport ours\n{use}")
    found = backend_text("mine", script, [str(tmp_path)])
    assert found is not None and (found.argument, found.statements[-1][:9]) == ("mine", "def mine(")
    script.write_text(SCRIPT.partition("def main")[0] + use)
    found = backend_text("mine", script, [])
    assert found is not None and (found.argument, len(found.statements)) == ("mine", 3)
    script.write_text(f"import torch\n{use}")
    assert backend_text("mine", script, [str(tmp_path)]) is None


def test_registered_backend(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        SCRIPT.replace("def mine", "@register_backend\ndef mine").replace("backend=mine", "backend='mine'")
    )
    found = backend_text("mine", script, [str(tmp_path)])
    assert found is not None
    assert found.argument == '"mine"'
    assert found.statements[0] == "from torch._dynamo import register_backend"


def test_backend_that_is_not_in_the_script(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import helper\nhelper.main()\n")
    assert backend_text("mine", script, [str(tmp_path)]) is None
    assert backend_text("mine", tmp_path / "missing.py", [str(tmp_path)]) is None


def test_backend_that_the_command_line_names(tmp_path: Path) -> None:
    file = tmp_path / "backends.py"
    file.write_text(SCRIPT)
    found = backend_of_file(f"{file}:mine", [str(tmp_path)])
    assert found is not None
    assert found.argument == "mine"
    assert [each.splitlines()[0] for each in found.statements] == [
        *("SCALE = 2.0", "def scaled(value):", "def mine(gm, inputs):"),
    ]
    for name in ("inductor", "mine", f"{file}:nowhere", f"{tmp_path / 'nowhere.py'}:mine"):
        assert backend_of_file(name, [str(tmp_path)]) is None


OPERATORS = """
import numpy as np
import torch
import torch.library as tl

FACTOR = 2.0
_ = None


def doubled(x):
    return x * FACTOR


@torch.library.custom_op("mine::wide", mutates_args=())
def wide(x: torch.Tensor) -> torch.Tensor:
    return doubled(x).double()


@wide.register_fake
def _(x):
    return torch.empty_like(x)


@torch.library.custom_op("mine::other", mutates_args=())
def other(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(np.sin(x.numpy()))


wide.register_autograd(lambda ctx, gradient: gradient)
other.register_fake(torch.empty_like)
lib = tl.Library("old", "DEF")
lib.define("half(Tensor x) -> Tensor")
lib.impl("half", lambda x: x / 2, "CPU")


@tl.register_fake("old::half")
def fake_half(x):
    return torch.empty_like(x)


def main():
    print([wide(torch.ones(_)) for _ in range(3)])


main()
"""


@pytest.mark.parametrize(
    ("operator", "definition", "firsts"),
    [
        (
            "mine::wide",
            '@torch.library.custom_op("mine::wide',
            [
                "FACTOR = 2.0",
                "def doubled(x):",
                "@torch.library.custom_op('mine::wide', mutates_args=())",
                "@wide.register_fake",
                "wide.register_autograd(lambda ctx, gradient: gradient)",
            ],
        ),
        (
            "mine::other",
            '@torch.library.custom_op("mine::other',
            [
                "import numpy as np",
                "@torch.library.custom_op('mine::other', mutates_args=())",
                "other.register_fake(torch.empty_like)",
            ],
        ),
        (
            "old::half",
            "@tl.register_fake",
            [
                "import torch.library as tl",
                "lib = tl.Library('old', 'DEF')",
                "lib.define('half(Tensor x) -> Tensor')",
                "lib.impl('half', lambda x: x / 2, 'CPU')",
                "@tl.register_fake('old::half')",
            ],
        ),
    ],
)
def test_an_operator_with_what_registers_it(
    operator: str, definition: str, firsts: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "ops.py"
    file.write_text(OPERATORS)
    line = OPERATORS[: OPERATORS.index(definition)].count("\n") + 1
    known = {operator: OperatorSource(Place(str(file), line), "ops")}
    found = operator_texts(known, [str(tmp_path)])
    assert [each.splitlines()[0] for each in found] == firsts
    assert operator_texts(known, [str(tmp_path / "elsewhere")]) == ()
