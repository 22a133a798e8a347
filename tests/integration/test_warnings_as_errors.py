"""A program for which warnings are errors (`python -W error`): it is captured, and its own are raised."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from launching import run_to_end
from support.answering import Result
from support.cases import one_in

PROGRAM = """
import warnings
import torch


class Net(torch.nn.Module):
    def __init__(self, is_old):
        super().__init__()
        self.is_old = is_old

    def forward(self, x):
        y = x * 2
        if y.sum() > 0:
            y = y.sin()  # torch warns when Dynamo looks at y.grad, as y is not a leaf
        if self.is_old:
            warnings.warn("it is old")
        return y.cos()


Net(False)(torch.ones(3, requires_grad=True)).sum().backward()
try:
    Net(True)(torch.ones(3, requires_grad=True))
except UserWarning as warning:
    print("raised", warning)
"""


@pytest.mark.parametrize("backend", one_in(2, ["eager", "inductor"]))
def test_it_is_captured_and_its_own_warnings_are_raised(
    backend: str, run: Callable[..., Result], environment: dict[str, str], tmp_path: Path
) -> None:
    """Importing Inductor warns of a deprecated function of torch's."""
    (tmp_path / "program.py").write_text(PROGRAM)
    plain = run_to_end([sys.executable, "-W", "error", "program.py"], environment, tmp_path)
    assert (plain.exit_code, plain.stdout, plain.stderr) == (0, "raised it is old\n", "")
    python = (sys.executable, "-W", "error", "program.py")
    ran = run("run", "-q", "-o", "r", "--backend", backend, "--", *python)
    assert (ran.exit_code, ran.stdout, ran.stderr) == (0, "raised it is old\n", "")
    summary = json.loads(run("explain", "--format", "json", "r").stdout)["summary"]
    assert (summary["graphs"], summary["frames_fell_back"]) == (3, 0)
