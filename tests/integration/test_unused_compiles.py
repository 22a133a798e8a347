"""What torch.compile returned and the program did not use is found, and nothing that was used."""

from pathlib import Path

import pytest

import dynamo_core
from dynamo_core.findings import Finding
from launching import ForkingPython
from support.torch_version import TORCH

BEGIN = """\
import copy, io, torch
class Net(torch.nn.Module):
    def forward(self, x): return x * 2
    def generate(self, x): return self.forward(x)
def scale(x): return x * 2
x = torch.ones(2)
"""
UNUSED = {
    "function": "fast = torch.compile(scale)\nscale(x)",
    "method": "net = torch.compile(Net())\nnet.generate(x)",
    "module": "net = Net()\nnet.compile()\nnet.forward(x)",
    "stance": "fast = torch.compile(scale)\nwith torch.compiler.set_stance('force_eager'):\n    fast(x)",
}
MODE = """\
from torch.utils.flop_counter import FlopCounterMode
fast = torch.compile(scale, backend="eager")
with FlopCounterMode(display=False):
    fast(x)
fast(x)
"""
BY_OPTION = """\
class Loaded(Net):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)
    def load(self, state, by_option=True):
        self.load_state_dict(state)
        if by_option:
            self = torch.compile(self)
net = Loaded()
net.load(Loaded().state_dict())
net(x)
"""
USED = {
    "inlined": "f = torch.compile(scale)\ng = torch.compile(lambda x: f(x) + 1, backend='eager')\ng(x)",
    "copied": "net = copy.deepcopy(torch.compile(Net(), backend='eager'))\nnet(x)",
    "saved": (
        "file = io.BytesIO()\ntorch.save(torch.compile(Net(), backend='eager'), file)\nfile.seek(0)\n"
        "torch.load(file, weights_only=False)(x)"
    ),
    "decorated": "@torch.compile\ndef other(x): return x",
    "disabled function": "fast = torch.compile(torch.compiler.disable(scale), backend='eager')\nfast(x)",
    "compiled after a reset": MODE + "torch._dynamo.reset()\nfast(x)",
    "ended early": "fast = torch.compile(scale)\nraise SystemError",
}


def found(python: ForkingPython, folder: Path, program: str) -> list[Finding]:
    (folder / "program.py").write_text(BEGIN + program)
    python.run("-m", "dynamo_cli", "run", "-q", "-o", folder / "rec", folder / "program.py", cwd=folder)
    recording = dynamo_core.open(folder / "rec")
    assert not any(process.health.failed_probes for process in recording.recording.processes)
    return [each for each in recording.findings if each.kind == "never called"]


@pytest.mark.parametrize("name", UNUSED)
def test_what_is_not_used_is_found_on_its_line(name: str, python: ForkingPython, tmp_path: Path) -> None:
    (finding,) = found(python, tmp_path, UNUSED[name])
    assert ".compile(" in finding.source and finding.remedies


@pytest.mark.skipif(TORCH >= (2, 15), reason="torch 2.15 compiles in the first call without the mode")
def test_what_a_mode_left_eager_is_found_where_it_was_called(python: ForkingPython, tmp_path: Path) -> None:
    (finding,) = found(python, tmp_path, MODE)
    assert finding.source == "fast(x)" and "what was passed to `torch.compile`" in finding.remedies[0].text
    (tmp_path / "cured").mkdir()
    assert found(python, tmp_path / "cured", MODE.replace("    fast(x)", "    scale(x)")) == []


def test_what_was_captured_before_is_not_the_programs(python: ForkingPython, tmp_path: Path) -> None:
    """Whether the option is on is known only when `load` runs, which is captured until then."""
    (finding,) = found(python, tmp_path, BY_OPTION)
    assert finding.source == "self = torch.compile(self)"
    recording = dynamo_core.open(tmp_path / "rec")
    assert recording.summary.graph_breaks == 1 and recording.findings == [finding]
    assert all(frame.compiled_by is None for process in recording.processes for frame in process.frames)


@pytest.mark.parametrize("name", USED)
def test_what_is_used_is_not(name: str, python: ForkingPython, tmp_path: Path) -> None:
    assert found(python, tmp_path, USED[name]) == []
