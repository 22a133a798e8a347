"""A captured program that handles errors around its operations is compiled all the same."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Explain = Callable[..., dict[str, Any]]
PROGRAM = """
import torch

class ShapeError(Exception):
    pass

def halves(x):
    try:
        return x.reshape(2, -1)
    except {handled}:
        return x

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)

    def forward(self, x):
        return halves(self.second(torch.relu(self.first(x)))).sum()

net = Net()
for _ in range(3):
    net(torch.randn(4, 8)).backward()
"""


@pytest.mark.parametrize("handled", ["ShapeError", "(ShapeError, RuntimeError)", "Exception"])
def test_one_graph_as_torch_compile_makes(handled: str, explained: Explain, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(handled=handled))
    document = explained("--backend", "aot_eager", program)
    summary = document["summary"]
    assert (summary["graphs"], summary["graph_calls"], summary["graph_breaks"]) == (1, 3, 0)
    assert summary["frames_left_eager"] == 0


def test_other_sizes_recompile(explained: Explain, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(handled="Exception").replace("randn(4, 8)", "randn(4 + 2 * _, 8)"))
    summary = explained("--backend", "aot_eager", program)["summary"]
    assert (summary["graphs"], summary["recompiles"]) == (2, 1)
    assert summary["frames_raised"] == summary["frames_left_eager"] == 0


def test_what_is_left_eager_counts_and_comes_first(explained: Explain, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(handled="KeyboardInterrupt"))
    document = explained("--backend", "aot_eager", program)
    assert document["summary"]["graphs"] == 0
    assert document["summary"]["frames_left_eager"] == 2
    first = document["findings"][0]
    assert first["kind"] == "left eager by dynamo run"
    assert "Net.forward" in first["title"]
    assert "5 ops" in first["title"]
    assert "--semantics compiled" in first["remedies"][0]["text"]
