"""A notebook that is run by a kernel, and one that is run as a program: its cells are named."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from launching import Runner, run_to_end
from support.cases import nightly

pytest.importorskip("nbclient", reason="nbclient is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")

_CELLS = (
    "import torch",
    "@torch.compile(backend='eager')\ndef score(x):\n    y = x.sin()\n"
    "    if y.sum() > 0:\n        y = y * 2\n    return y",
    "for n in (4, 5):\n    score(torch.ones(n))",
)


def _notebook(file: Path, cells: Sequence[str]) -> Path:
    made = [
        {"cell_type": "code", "metadata": {}, "source": cell, "outputs": [], "execution_count": None}
        for cell in cells
    ]
    made.insert(1, {"cell_type": "markdown", "metadata": {}, "source": "# Text"})
    file.write_text(json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}))
    return file


@nightly
def test_the_cells_of_a_notebook_are_named(run: Runner, tmp_path: Path) -> None:
    _notebook(tmp_path / "notebook.ipynb", _CELLS)
    command = [sys.executable, "-m", "jupyter", "execute", "notebook.ipynb"]
    ran = run("run", "--", *command)
    assert ran.exit_code == 0, ran.stderr
    assert "graph break at In[2]:4 Data-dependent branching" in ran.stderr
    recompiles = run("recompiles")
    assert "score (In[2]:2): 1 recompile" in recompiles.stdout
    assert "In[2]:3 y = x.sin()" in recompiles.stdout
    assert "ipykernel_" not in recompiles.stdout


# A cell that no kernel would number; magics; a cell that a cell runs; arguments; and an error at the end.
_PROGRAM = (
    *_CELLS[:1],
    "",
    *_CELLS[1:],
    "%%capture told\nscore(torch.ones(6))\nprint(1)",
    "import sys\n!echo shell\nprint(told.stdout, sys.argv[1:], __name__, __file__)",
    "score(torch.ones(0))",
    "1 / 0",
    "print('not reached')",
)


def test_a_notebook_runs_as_ipython_runs_it(run: Runner, tmp_path: Path, environment: dict[str, str]) -> None:
    file = _notebook(tmp_path / "notebook.ipynb", _PROGRAM)
    # A key that the format does not know: IPython says so once, and so it is to be with us.
    file.write_text(file.read_text().replace('"outputs"', '"strange": 1, "outputs"', 1))
    before = file.read_bytes()
    own = {"IPYTHONDIR": str(tmp_path / "ipython")}
    plain = run_to_end(
        [sys.executable, "-m", "IPython", "--", file.name, "-a", "--pdb"], environment | own, tmp_path
    )
    ran = run("run", file.name, "-a", "--pdb", env=own)
    assert "shell" in ran.stdout and "['-a', '--pdb'] __main__ notebook.ipynb" in ran.stdout
    assert (ran.exit_code, ran.stdout) == (plain.exit_code, plain.stdout) and ran.exit_code == 1
    assert plain.stderr.count("Notebook JSON is invalid") == ran.stderr.count("Notebook JSON is invalid") == 1
    assert file.read_bytes() == before
    assert "graph break at In[2]:4 Data-dependent branching" in ran.stderr
    assert "score (In[2]:2): 2 recompiles" in run("recompiles").stdout


def test_a_captured_notebook_does_not_notice(run: Runner, tmp_path: Path) -> None:
    function = "def step(x):\n    y = x.sin()\n    print('between')\n    return y.sum()"
    file = _notebook(tmp_path / "notebook.ipynb", ["import torch", function, "step(torch.ones(3))"])
    ran = run("run", "--backend", "eager", file.name, env={"IPYTHONDIR": str(tmp_path / "ipython")})
    assert (ran.exit_code, ran.stdout) == (0, "between\n"), ran.stderr
    assert "graph break at In[2]:3" in ran.stderr
    assert "Exception ignored" not in ran.stderr
