"""`dynamo export` on programs: what they notice of it (nothing), and what it says and writes of them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

PROGRAM = """
import os, sys
from dataclasses import dataclass
from typing import NamedTuple
import torch
from torch import nn

PID = os.getpid()

@dataclass
class Batch:
    x: torch.Tensor
    mask: torch.Tensor

class Pair(NamedTuple):
    a: torch.Tensor
    b: torch.Tensor

class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.drop = nn.BatchNorm1d(4), nn.Dropout(0.5)

    def forward(self, batch, more, times, pair=None):
        y = self.drop(self.norm(batch.x)) * batch.mask + more["bias"][0] * times
        return {"y": y, "pair": (pair.a @ pair.b, y.sum(-1))}

class Raises(nn.Module):
    def forward(self, x):
        raise ValueError("no")

class Crashes(nn.Module):
    def forward(self, x):
        if os.getpid() != PID:  # in a copy alone
            os.abort()
        return x

def call(model, size):
    batch = Batch(torch.randn(size, 4), torch.ones(size, 4))
    pair = Pair(torch.randn(size, 2), torch.randn(2, 2))
    return model(batch, {"bias": [torch.randn(4)]}, size, pair=pair)

if __name__ == "__main__":
    torch.manual_seed(0)
    nested = Nested()
    for size in (2, 3, 5):
        call(nested, size)["y"].sum().backward()
    try:
        Raises()(torch.randn(2))
    except ValueError as error:
        print("raised", error)
    Crashes()(torch.randn(2))
    torch.fx.symbolic_trace(nn.Linear(2, 2))
    compiled = torch.compile(nn.Linear(2, 2))
    compiled(torch.randn(3, 2)), compiled(torch.randn(4, 2))
    print(type(compiled).__name__, compiled._orig_mod)
    print(torch.randn(3).tolist(), nested.norm.running_mean.tolist(), nested.norm.weight.grad.tolist())
    sys.exit(3)
"""


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], cwd=cwd, capture_output=True, text=True, timeout=240, check=False
    )


def test_a_program_notices_nothing_and_what_is_printed_works_when_pasted(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    alone = run("program.py", cwd=tmp_path)
    options = ("--format", "json", "-o", "model.pt2")
    recorded = run("-m", "dynamo_cli", "export", *options, "program.py", cwd=tmp_path)
    assert alone.returncode == recorded.returncode == 3
    assert alone.stdout in recorded.stderr  # the report has stdout
    nested, raises, crashes, compiled = json.loads(recorded.stdout)["modules"]
    verdicts = [each["verdict"] for each in (nested, raises, crashes, compiled)]
    assert verdicts == ["exports", "raises", "does not export", "exports"]
    assert {each["outcome"] for each in nested["compared"]} == {"agrees"}
    assert nested["calls"] == 3
    assert "class '__main__.Pair'" in nested["not_saved"] and compiled["not_saved"] is None
    assert raises["obstacles"][0]["source"] == 'raise ValueError("no")'
    assert "SIGABRT" in crashes["obstacles"][0]["cause"]
    assert (compiled["name"], compiled["inputs"][0]["sizes"]) == ("Linear", [[3, 2], [4, 2]])
    pasted = pasted_program(nested)
    (tmp_path / "pasted.py").write_text(pasted)
    result = run("pasted.py", cwd=tmp_path)
    assert result.stdout.split() == ["7", "11", "9"], f"{pasted}\n{result.stderr}"


def pasted_program(module: dict[str, Any]) -> str:
    """The code of the report, with a call's arguments, and a call of what it exports with other sizes."""
    return f"""
from program import *
model = Nested()
batch, more, times = Batch(torch.randn(2, 4), torch.ones(2, 4)), {{"bias": [torch.randn(4)]}}, 2
pair = Pair(torch.randn(2, 2), torch.randn(2, 2))
{module["code"]}
for size in (7, 11):
    print(len(call(exported.module(), size)["y"]))
print(len(torch.export.load("model.pt2").module()(torch.randn(9, 2))))
"""
