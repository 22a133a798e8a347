"""The definition of a backend, taken out of the user's files."""

from pathlib import Path

from dynamo_core.repro.definitions import backend_of_file, backend_text

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
