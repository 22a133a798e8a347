"""Every count of a recording equals torch's own counters of the same process, on every sample script.

None of these counts depends on the backend: Inductor compiles two of the programs. A third of the scripts is
run; `ALL_CASES=1` runs all.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from launching import ForkingPython
from recordings import SAMPLES
from support.answering import Result
from support.cases import one_in

COUNTERS = Path(__file__).parent / "torch_counters"
PROGRAMS = [
    *[[path.name] for path in sorted(SAMPLES.glob("*.py"))],
    ["hf_llama.py", "--compile"],
    ["hf_bert_train.py", "--compile"],
]
UNDER_INDUCTOR = ("toy_example.py", "train_loop.py")


@pytest.mark.parametrize("program", one_in(9, PROGRAMS), ids=" ".join)
def test_counts_equal_torchs(
    program: list[str], explained: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    script, *arguments = program
    options = () if script in UNDER_INDUCTOR else ("--backend", "eager", "--override", "backend=eager")
    counted = tmp_path / "counted"
    counted.mkdir()
    document = explained(
        *options,
        SAMPLES / script,
        *arguments,
        env={"PYTHONPATH": str(COUNTERS), "TORCH_COUNTERS_FOLDER": str(counted)},
    )
    torchs = [json.loads(file.read_text()) for file in counted.iterdir()]
    assert torchs, "torch's counters were not written: the chained sitecustomize did not run"
    summary = document["summary"]
    for name in ("graphs", "ops", "frames", "frames_compiled", "graph_breaks", "recompiles", "guards"):
        assert summary[name] == sum(counts[name] for counts in torchs), name
    assert summary["compile_time_s"] == pytest.approx(sum(c["compile_time_s"] for c in torchs), abs=1e-3)
    assert document["problems"] == []
    assert summary["graphs"] > 0
    assert summary["graph_calls"] >= summary["graphs"]
    assert summary["exit_code"] == 0


REPR_OF_ITS_OWN = """
import torch
from functorch.compile import make_boxed_func
from torch import nn
from torch._dynamo.utils import counters


def shown(tensor, *, tensor_contents=None):
    return f"tensor with mean {tensor.detach().mean().item():.3f}"


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        h = self.linear(x)
        self.note = repr(h)
        return x.relu() + h


torch.Tensor.__repr__ = shown
model = torch.compile(nn.Sequential(Block(), Block()), backend="aot_eager")
model(torch.ones(3, 4)).sum().backward()
print(sum(counters["graph_break"].values()), counters["frames"]["total"], counters["frames"]["ok"])
"""


def test_a_repr_of_the_programs_own_that_reads_values_does_no_harm(
    run: Callable[..., Result], python: ForkingPython, tmp_path: Path
) -> None:
    """torch's trace has such a text of fake tensors, whose values cannot be read: the graph would be lost."""
    (tmp_path / "program.py").write_text(REPR_OF_ITS_OWN)
    result = run("run", "-q", "-o", "recording", "program.py")
    assert result.stdout == python.run("program.py", cwd=tmp_path).stdout
    breaks, frames, ok = map(int, result.stdout.split())
    document = json.loads(run("explain", "--format", "json", "recording").stdout)
    summary = document["summary"]
    found = [summary[name] for name in ("graph_breaks", "frames", "frames_compiled")]
    assert found == [breaks, frames, ok]
    assert document["problems"] == [], "functorch.compile is imported before Dynamo"
