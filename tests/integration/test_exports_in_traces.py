"""`dynamo export TRACE`: a trace that torch wrote (TORCH_DTRACE) of a program that exports for itself."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from launching import Runner
from support.schemas import validate
from support.torch_version import TORCH

# In 2.8 draft_export fails at a condition on a float: its solver of constraints does not know the number
# (torch/fx/experimental/symbolic_shapes.py, DynamicDimConstraintPrinter).
CONDITION = "x.sum().item() > 0" if TORCH >= (2, 9) else "x.argmax().item() > 0"
PROGRAM = f"""\
import torch
from torch.export import export, draft_export

@torch.library.custom_op("mine::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2

class Plain(torch.nn.Module):
    def forward(self, x):
        return x.sin()

class Branches(torch.nn.Module):
    def forward(self, x):
        if {CONDITION}:
            return x.cos()
        return torch.ops.mine.twice(x)

export(Plain(), (torch.ones(3),))
try:
    export(Branches(), (torch.ones(3),))
except Exception as error:
    print(type(error).__name__)
draft_export(Branches(), (-torch.ones(3),))
compiled = torch.compile(lambda x: x + 1, backend="eager")
compiled(torch.ones(3))
"""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Path:
    work = tmp_path_factory.mktemp("exports")
    (work / "program.py").write_text(PROGRAM)
    folder = work / "trace"
    folder.mkdir()
    more = {"TORCH_TRACE": str(folder), "TORCH_DTRACE": str(folder)}
    command = [sys.executable, str(work / "program.py")]
    done = subprocess.run(command, env=environment | more, capture_output=True, text=True, check=True)
    assert "GuardOnDataDependentSymNode" in done.stdout
    return folder


def test_each_export_and_what_it_ran_into(trace: Path, read: Runner) -> None:
    result = read("export", "--format", "json", trace)
    assert result.exit_code == 0, result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    validate(document)
    assert document["modules"] == [] and document["left_out"] is None
    plain, stopped, draft = document["traced"]
    assert "torch.ops.aten.sin.default" in plain["program"] and plain["obstacles"] == []
    assert stopped["program"] is None
    [branch] = stopped["obstacles"]
    assert (branch["place"]["line"], branch["source"]) == (14, f"if {CONDITION}:")
    assert "known only when the program runs" in branch["cause"] and branch["remedies"]
    assert "torch.ops.mine.twice" in draft["program"]
    guessed, kernel = draft["obstacles"]
    # torch numbers files for the whole process, and the draft's own stream does not have this one's name.
    assert (guessed["place"], guessed["source"]) == (None, f"if {CONDITION}:")
    assert kernel["place"] is None and "fake kernel" in kernel["cause"]
    assert "MISSING_FAKE_KERNEL: mine.twice" in kernel["words"]


def test_the_page(trace: Path, read: Runner) -> None:
    page = " ".join(read("export", trace).stdout.split())
    assert "3 calls of torch.export, 2 of which gave a program" in page
    assert f"program.py:14, the last that it ran into if {CONDITION}:" in page
    assert "exported, past 2 obstacles A file that the trace does not name, which it went past" in page


def test_a_trace_without_them_is_one_line(tmp_path: Path, environment: dict[str, str], read: Runner) -> None:
    (tmp_path / "trace").mkdir()
    text = "import torch\ntorch.compile(lambda x: x + 1, backend='eager')(torch.ones(3))\n"
    environment = environment | {"TORCH_TRACE": str(tmp_path / "trace")}
    subprocess.run([sys.executable, "-c", text], env=environment, check=True)
    result = read("export", "trace")
    assert (result.exit_code, result.stdout) == (121, "")
    assert "a trace of an export that was written with TORCH_DTRACE" in result.stderr
