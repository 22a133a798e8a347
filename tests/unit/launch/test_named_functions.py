"""The function that `--freeze-after` names: which compiled one it means, and when the name is wrong."""

from pathlib import Path
from types import CodeType

import pytest

from dynamo_core.capture.interventions.freeze import CompiledFunction, NamedFunction
from dynamo_core.launch.named_functions import meant_instead_of
from dynamo_core.launch.program import Program


class Base:
    def forward(self) -> None: ...


class Head:
    def forward(self) -> None: ...


def inner() -> None: ...


NET = CompiledFunction(Base.forward.__code__, "Net.forward")
HEAD = CompiledFunction(Head.forward.__code__, "Head.forward")
WRAPPED = CompiledFunction(inner.__code__, "Linear.forward")  # as torch's own modules are compiled


def pages(name: str, *functions: CompiledFunction) -> object:
    named = NamedFunction(name)
    for page, function in enumerate(functions):
        named.add(page, function)
    return named.pages


def test_a_short_name_means_the_only_function_that_has_it() -> None:
    assert pages("forward", NET, NET) == [0, 1]
    assert pages("forward", WRAPPED) == [0]
    assert pages("forward", NET, HEAD) is None
    assert pages("forward", WRAPPED, CompiledFunction(inner.__code__, "ReLU.forward")) is None
    assert pages("orward", NET) == []


def test_a_whole_name_means_its_function_whatever_else_ends_so() -> None:
    assert pages("Net.forward", NET, HEAD) == [0]
    if hasattr(CodeType, "co_qualname"):  # from Python 3.11 on
        assert pages("Base.forward", NET, HEAD) == [0]


SOURCE = """
import torch, helper
class Net(torch.nn.Module):
    def forward(self, x):
        return helper.double(x)
def train_step(): ...
net = torch.compile(Net()).eval()
"""


def meant(folder: Path, name: str, source: str = SOURCE, *, helper: str = "def double(x): ...") -> str | None:
    (folder / "helper.py").write_text(helper)
    (folder / "train.py").write_text(source)
    return meant_instead_of(name, Program((str(folder / "train.py"), "--epochs"), is_python=True))


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("forwad", "forward"),
        ("Nett.forward", "Net.forward"),
        ("train_stp", "train_step"),
        ("doubel", "double"),
        ("forward", None),
        ("Net.forward", None),
        ("net", None),  # a word of the program: who knows what is behind it
        ("something_else", None),
    ],
)
def test_a_wrong_name_is_known_by_the_source(name: str, instead: str | None, tmp_path: Path) -> None:
    assert meant(tmp_path, name) == instead


@pytest.mark.parametrize(
    "line",
    [
        "import transformers",
        "importlib.import_module('x')",
        "net = torch.load('net.pt')",
        "exec(text)",
        "x = torch.hub.load_it()",
        "def (",
    ],
)
def test_nothing_is_called_wrong_where_there_may_be_other_functions(line: str, tmp_path: Path) -> None:
    assert meant(tmp_path, "forwad", f"{SOURCE}\n{line}") is None
    assert meant(tmp_path, "forwad", helper=line) is None


def test_programs_in_other_forms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    meant(tmp_path, "")
    monkeypatch.chdir(tmp_path)
    assert meant_instead_of("doubel", Program(("-m", "train"), is_python=True)) == "double"
    assert meant_instead_of("doubel", Program(("-c", "import helper"), is_python=True)) == "double"
    for other in (Program(("-",), is_python=True), Program(("torchrun", "train.py"), is_python=False)):
        assert meant_instead_of("doubel", other) is None
    assert meant_instead_of("doubel", Program(("nowhere.py",), is_python=True)) is None
