"""The traceback that Python prints where an error out of a compiled graph ends the program."""

import subprocess
import sys
from pathlib import Path

import pytest

from launching import Runner

# One passes through the wrapper around a graph, one through hooks around functions of torch's.
PROGRAMS = {
    "graph": "step = torch.compile(lambda x, i: x[i], backend='eager')\n"
    "step(torch.ones(4), torch.tensor([1]))\nstep(torch.ones(4), torch.tensor([9]))",
    "hook": "torch.nn.parallel.DistributedDataParallel(torch.nn.ReLU())",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_that_of_plain_python(name: str, run: Runner, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(f"import torch\n{PROGRAMS[name]}\n")
    plain = subprocess.run([sys.executable, "program.py"], capture_output=True, text=True, cwd=tmp_path)
    result = run("run", "-q", "program.py")
    assert "Traceback" in plain.stderr and result.stderr == plain.stderr
    assert result.exit_code == plain.returncode == 1
