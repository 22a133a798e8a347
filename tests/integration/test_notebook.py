"""`dynamo run -- jupyter execute notebook.ipynb`: the kernel is recorded, and its cells are named."""

import json
import sys
from pathlib import Path

import pytest

from conftest import Runner

_CELLS = (
    "import torch",
    "@torch.compile(backend='eager')\ndef score(x):\n    y = x.sin()\n"
    "    if y.sum() > 0:\n        y = y * 2\n    return y",
    "for n in (4, 5):\n    score(torch.ones(n))",
)


def test_the_cells_of_a_notebook_are_named(run: Runner, tmp_path: Path) -> None:
    pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    cells = [
        {"cell_type": "code", "metadata": {}, "source": cell, "outputs": [], "execution_count": None}
        for cell in _CELLS
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    (tmp_path / "notebook.ipynb").write_text(json.dumps(notebook))
    command = [sys.executable, "-m", "jupyter", "execute", "notebook.ipynb"]
    ran = run("run", "--", *command)
    assert ran.exit_code == 0, ran.stderr
    assert "graph break at In[2]:4 Data-dependent branching" in ran.stderr
    recompiles = run("recompiles")
    assert "score (In[2]:2): 1 recompile" in recompiles.stdout
    assert "In[2]:3 y = x.sin()" in recompiles.stdout
    assert "ipykernel_" not in recompiles.stdout
